"""What each lock owes to who wants it, asked of each lock, in the world and on a real Redis."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from labkit.locks import Misuse
from tests.conformance.arena import Arena

Kind = Any

# -- the grant ---------------------------------------------------------------------------------------------------------


def test_a_grant_stores_its_token(arena: Arena, kind: Kind) -> None:
    lease = kind(arena.client(), "stock").try_acquire()
    assert arena.holder("stock") == lease.token


def test_each_acquisition_has_a_token_of_its_own(arena: Arena, kind: Kind) -> None:
    lock = kind(arena.client(), "stock")
    tokens = set()
    for _ in range(3):
        lease = lock.try_acquire()
        tokens.add(lease.token)
        lock.release(lease)
    assert len(tokens) == 3


def test_the_key_has_an_expiry_at_every_instant(arena: Arena, kind: Kind) -> None:
    client, seen = arena.client(), set[int]()
    arena.watch(client, lambda: seen.add(arena.bystander.pttl("stock")))
    lock = kind(client, "stock", ttl=10)
    lease = lock.try_acquire()
    lock.release(lock.extend(lease))
    assert all(pttl == -2 or 0 < pttl <= 10_000 for pttl in seen)


def test_half_a_second_is_500_milliseconds(arena: Arena, kind: Kind) -> None:
    client, seen = arena.client(), list[int]()
    arena.watch(client, lambda: seen.append(arena.bystander.pttl("stock")))
    kind(client, "stock", ttl=0.5).try_acquire()
    assert 250 < max(seen) <= 500


def test_the_deadline_is_not_later_than_the_servers_expiry(arena: Arena, kind: Kind) -> None:
    lease = kind(arena.client(), "stock").try_acquire()
    left = arena.bystander.pttl("stock") / 1000
    assert lease.deadline <= time.monotonic() + left


def test_replies_may_be_decoded(arena: Arena, kind: Kind) -> None:
    lock, other = (kind(arena.client(decode_responses=True), "stock") for _ in range(2))
    lease = lock.try_acquire()
    assert other.try_acquire() is None
    lock.release(lock.extend(lease))
    assert not arena.bystander.exists("stock")


# -- a lock that is taken ----------------------------------------------------------------------------------------------


def test_a_taken_lock_is_not_granted(arena: Arena, kind: Kind) -> None:
    arena.steal("stock")
    assert kind(arena.client(), "stock").try_acquire() is None
    assert arena.is_stolen("stock")


def test_a_value_that_is_no_text_counts_as_taken(arena: Arena, kind: Kind) -> None:
    arena.steal("stock", by=b"\xff\xfe")
    assert kind(arena.client(), "stock").try_acquire() is None


@pytest.mark.parametrize("taken", [False, True], ids=["free", "taken"])
def test_no_time_to_wait_means_exactly_one_try(arena: Arena, kind: Kind, taken: bool) -> None:
    client = arena.client()
    lock = kind(client, "stock")
    lock.release(lock.acquire(0))  # on a server before 7.0 the first try finds out what the server knows
    if taken:
        arena.steal("stock")
    commands = arena.watch(client, lambda: None)
    assert (lock.acquire(0) is None) == taken
    assert sum(name in ("SET", "SETNX", "EVALSHA", "EVAL") for name in commands) == 1


def test_waiting_ends(arena: Arena, kind: Kind) -> None:
    arena.steal("stock")
    lock, began = kind(arena.client(), "stock", poll=5.0), time.monotonic()  # a pause is cut to what is left
    assert lock.acquire(0.03) is None
    assert arena.real or time.monotonic() - began < 0.04  # one call more than asked for; virtual time is exact


def test_a_waiter_gets_the_lock_when_it_is_free(arena: Arena, kind: Kind) -> None:
    first, second, got = kind(arena.client(), "stock"), kind(arena.client(), "stock", poll=0.005), list[Any]()
    lease = first.try_acquire()
    waiter = threading.Thread(target=lambda: got.append(second.acquire(5)))
    waiter.start()
    first.release(lease)
    waiter.join()
    assert arena.holder("stock") == got[0].token


def test_a_key_of_another_type_is_misuse(arena: Arena, kind: Kind) -> None:
    arena.put_no_lock("stock")
    with pytest.raises(Misuse):
        kind(arena.client(), "stock").try_acquire()
    assert arena.is_no_lock("stock")
