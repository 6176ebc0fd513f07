"""What `hold` promises, and who may use one object. Of each lock, in the world and on a real Redis."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from labkit.locks import Lease, LeaseLost, Misuse, NotAcquired
from tests.conformance.arena import Arena

Kind = Any

# -- holding -----------------------------------------------------------------------------------------------------------


def test_holding_takes_the_lock_and_frees_it(arena: Arena, kind: Kind) -> None:
    with kind(arena.client(), "stock").hold(0) as lease:
        assert arena.holder("stock") == lease.token
    assert not arena.bystander.exists("stock")


def test_the_body_never_runs_without_a_lease(arena: Arena, kind: Kind) -> None:
    arena.steal("stock")
    ran = False
    with pytest.raises(NotAcquired), kind(arena.client(), "stock").hold(0):
        ran = True
    assert not ran


def test_leaving_after_a_loss_is_told(arena: Arena, kind: Kind) -> None:
    with pytest.raises(LeaseLost), kind(arena.client(), "stock").hold(0):
        arena.steal("stock")


def test_an_error_of_the_body_is_not_hidden_by_a_loss(arena: Arena, kind: Kind) -> None:
    def work() -> None:
        arena.steal("stock")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), kind(arena.client(), "stock").hold(0):
        work()


def test_an_error_of_the_body_frees_the_lock(arena: Arena, kind: Kind) -> None:
    with pytest.raises(ZeroDivisionError), kind(arena.client(), "stock").hold(0):
        raise ZeroDivisionError
    assert not arena.bystander.exists("stock")


# -- who uses it -------------------------------------------------------------------------------------------------------


def test_one_object_serves_many_threads(arena: Arena, kind: Kind) -> None:
    lock, client, errors = kind(arena.client(), "stock", poll=0.002), arena.client(), list[Exception]()

    def sell() -> None:
        try:
            for _ in range(5):
                with lock.hold(30):
                    client.set("sold", int(client.get("sold") or 0) + 1)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=sell) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (errors, client.get("sold")) == ([], b"20")


def test_a_lease_is_needed(arena: Arena, kind: Kind) -> None:
    lock = kind(arena.client(), "stock")
    arena.steal("stock")
    for verb in (lock.extend, lock.release):
        with pytest.raises(Misuse):
            verb(None)
    assert arena.is_stolen("stock")


def test_a_made_up_lease_opens_nothing(arena: Arena, kind: Kind) -> None:
    lock = kind(arena.client(), "stock")
    arena.steal("stock")
    with pytest.raises(LeaseLost):
        lock.release(Lease("stock", "made up", None, time.monotonic() + 10))
    assert arena.is_stolen("stock")
