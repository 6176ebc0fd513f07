"""Before Redis 7.0 a server knows no SET with NX and GET. Locks work there too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from labkit.faults import DropReply
from labkit.locks import LeaseLost, Misuse, SafeLock
from tests.conformance.arena import WorldArena


@pytest.fixture
def arena() -> Iterator[WorldArena]:
    place = WorldArena(version=(6, 2))
    yield place
    place.close()


def test_a_lock_is_taken_refused_and_freed(arena: WorldArena, kind: Any) -> None:
    lock, other = (kind(arena.client(), "stock") for _ in range(2))
    lease = lock.try_acquire()
    assert other.try_acquire() is None
    lock.release(lock.extend(lease))
    assert not arena.bystander.exists("stock")


def test_a_lost_reply_to_the_grant_is_resolved(arena: WorldArena) -> None:
    arena.world.arm(DropReply(on="SET", nth=2))  # the first one asks for NX and GET in one, and is refused
    lease = SafeLock(arena.client(), "stock").try_acquire()
    assert lease is not None and arena.holder("stock") == lease.token


def test_a_key_of_another_type_is_misuse(arena: WorldArena) -> None:
    arena.bystander.hset("stock", "apples", 3)
    with pytest.raises(Misuse):
        SafeLock(arena.client(), "stock").try_acquire()


def test_a_theft_is_told(arena: WorldArena) -> None:
    lock = SafeLock(arena.client(), "stock")
    lease = lock.try_acquire()
    assert lease is not None
    arena.steal("stock")
    with pytest.raises(LeaseLost) as lost:
        lock.release(lease)
    assert lost.value.reason == "stolen"
