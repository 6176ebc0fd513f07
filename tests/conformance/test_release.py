"""What each lock owes at its end: released, extended, run out, stolen. In the world and on a real Redis."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from labkit.locks import LeaseLost, Misuse
from tests.conformance.arena import Arena

Kind = Any

# -- the release -------------------------------------------------------------------------------------------------------


def test_a_release_frees_the_lock(arena: Arena, kind: Kind) -> None:
    lock = kind(arena.client(), "stock")
    lock.release(lock.try_acquire())
    assert kind(arena.client(), "stock").try_acquire() is not None


def test_releasing_an_expired_lease_is_told(arena: Arena, kind: Kind) -> None:
    lock = kind(arena.client(), "stock", ttl=1)
    lease = lock.try_acquire()
    arena.let_expire("stock")
    with pytest.raises(LeaseLost) as lost:
        lock.release(lease)
    assert lost.value.reason == "expired"


def test_releasing_a_stolen_lease_is_told(arena: Arena, kind: Kind) -> None:
    lock = kind(arena.client(), "stock")
    lease = lock.try_acquire()
    arena.steal("stock")
    with pytest.raises(LeaseLost) as lost:
        lock.release(lease)
    assert lost.value.reason == "stolen"


def test_a_late_release_leaves_the_others_lock_alone(arena: Arena, kind: Kind) -> None:
    lock = kind(arena.client(), "stock")
    lease = lock.try_acquire()
    arena.steal("stock")
    with suppress(LeaseLost):
        lock.release(lease)
    assert arena.is_stolen("stock")


def test_a_repeated_release_is_no_loss(arena: Arena, kind: Kind) -> None:
    lock = kind(arena.client(), "stock")
    lease = lock.try_acquire()
    lock.release(lease)
    lock.release(lease)  # as a client library does when the first reply was lost
    assert not arena.bystander.exists("stock")


def test_a_repeated_release_leaves_the_next_holder_alone(arena: Arena, kind: Kind) -> None:
    lock = kind(arena.client(), "stock")
    lease = lock.try_acquire()
    lock.release(lease)
    following = lock.try_acquire()
    with suppress(LeaseLost):
        lock.release(lease)
    assert arena.holder("stock") == following.token


def test_a_release_works_after_the_scripts_were_flushed(arena: Arena, kind: Kind) -> None:
    lock = kind(arena.client(), "stock")
    lease = lock.try_acquire()
    arena.bystander.script_flush()
    lock.release(lease)
    assert not arena.bystander.exists("stock")


def test_nothing_stays_for_good(arena: Arena, kind: Kind) -> None:
    lock = kind(arena.client(), "stock")
    lock.release(lock.try_acquire())
    counter = str(getattr(lock, "counter", "")).encode()  # a fencing token must never be given again
    left = {key: arena.bystander.pttl(key) for key in arena.bystander.scan_iter() if key != counter}
    assert all(0 < pttl <= 60_000 for pttl in left.values()), left


def test_a_release_of_another_locks_lease_is_misuse(arena: Arena, kind: Kind) -> None:
    apples, pears = kind(arena.client(), "apples"), kind(arena.client(), "pears")
    lease = apples.try_acquire()
    with pytest.raises(Misuse):
        pears.release(lease)


# -- the extension -----------------------------------------------------------------------------------------------------


def test_an_extension_gives_a_full_ttl_under_the_same_token(arena: Arena, kind: Kind) -> None:
    lock = kind(arena.client(), "stock", ttl=10)
    lease = lock.try_acquire()
    arena.bystander.pexpire("stock", 1_000)
    longer = lock.extend(lease)
    assert 1_000 < arena.bystander.pttl("stock") <= 10_000
    assert longer.deadline > lease.deadline
    assert longer.token == lease.token


@pytest.mark.parametrize("which", ["first", "latest"])
def test_any_lease_of_a_grant_can_be_released(arena: Arena, kind: Kind, which: str) -> None:
    lock = kind(arena.client(), "stock")
    lease = lock.try_acquire()
    longer = lock.extend(lease)
    lock.release(lease if which == "first" else longer)
    assert not arena.bystander.exists("stock")


def test_extending_an_expired_lease_is_told(arena: Arena, kind: Kind) -> None:
    lock = kind(arena.client(), "stock", ttl=1)
    lease = lock.try_acquire()
    arena.let_expire("stock")
    with pytest.raises(LeaseLost) as lost:
        lock.extend(lease)
    assert not arena.bystander.exists("stock")
    assert lost.value.reason == "expired"


def test_extending_a_stolen_lease_is_told(arena: Arena, kind: Kind) -> None:
    lock = kind(arena.client(), "stock", ttl=100)
    lease = lock.try_acquire()
    arena.steal("stock")
    with pytest.raises(LeaseLost) as lost:
        lock.extend(lease)
    assert arena.is_stolen("stock")
    assert lost.value.reason == "stolen"
