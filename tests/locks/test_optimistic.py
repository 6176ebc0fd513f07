"""The row that is a lock: who gets it, who is told that he has lost it, and what a late holder cannot do."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest

from labkit.locks import Lease, LeaseLost, Misuse, NotAcquired, OptimisticLock
from labkit.sim import World


class Clock:
    """A wall clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def lock(clock: Clock) -> OptimisticLock:
    return OptimisticLock(sqlite3.connect(":memory:"), "task", 10.0, clock=clock)


def taken(lock: OptimisticLock) -> Lease:
    lease = lock.try_acquire()
    assert lease is not None
    return lease


def test_a_claim_has_the_next_version_and_an_owner_of_its_own(lock: OptimisticLock) -> None:
    first = taken(lock)
    lock.release(first)
    second = taken(lock)
    assert (first.fence, second.fence) == (1, 2)
    assert first.token != second.token


def test_a_claimed_row_is_not_claimed_again(lock: OptimisticLock) -> None:
    taken(lock)
    assert lock.try_acquire() is None


def test_only_one_of_two_clients_gets_it(tmp_path: Path) -> None:
    one, other = (OptimisticLock(sqlite3.connect(tmp_path / "db"), "task") for _ in range(2))
    lease = taken(one)
    assert other.try_acquire() is None
    one.release(lease)
    assert taken(other).fence == 2


def test_rows_are_locks_of_their_own(lock: OptimisticLock) -> None:
    taken(lock)
    assert OptimisticLock(lock.db, "other").try_acquire() is not None


@pytest.mark.parametrize(("later", "granted"), [(9.999, False), (10.0, True)])
def test_e72_a_dead_workers_claim_ends_with_its_lease(
    lock: OptimisticLock, clock: Clock, later: float, granted: bool
) -> None:
    taken(lock)
    clock.now += later
    assert (lock.try_acquire() is not None) == granted


def test_e72_a_zombies_completion_is_refused_and_told(lock: OptimisticLock, clock: Clock) -> None:
    zombie = taken(lock)
    clock.now += 60
    assert lock.reap() == 1
    holder = taken(lock)
    with pytest.raises(LeaseLost) as lost:
        lock.complete(1, zombie)
    assert (lost.value.reason, lock.read()) == ("stolen", 0)
    lock.complete(2, holder)
    assert lock.read() == 2


def test_e72_a_failover_that_repeats_a_version_is_seen_by_the_owner(lock: OptimisticLock, clock: Clock) -> None:
    replica = sqlite3.connect(":memory:")
    lock.db.backup(replica)  # before the claim: that one is lost
    zombie = taken(lock)
    promoted = OptimisticLock(replica, "task", clock=clock)
    holder = taken(promoted)
    assert zombie.fence == holder.fence
    assert promoted.write(1, zombie) is False
    assert promoted.write(2, holder) is True


def test_who_is_late_but_has_no_successor_may_complete(lock: OptimisticLock, clock: Clock) -> None:
    lease = taken(lock)
    clock.now += 60
    lock.complete(3, lease)
    assert lock.read() == 3


def test_a_completion_frees_the_row(lock: OptimisticLock) -> None:
    lock.complete(1, taken(lock))
    assert taken(lock).fence == 2


def test_a_second_completion_changes_nothing_and_is_told(lock: OptimisticLock) -> None:
    lease = taken(lock)
    lock.complete(1, lease)
    with pytest.raises(LeaseLost) as lost:
        lock.complete(2, lease)
    assert (lost.value.reason, lock.read()) == ("expired", 1)


def test_a_holder_writes_as_often_as_it_likes(lock: OptimisticLock) -> None:
    lease = taken(lock)
    assert [lock.write(value, lease) for value in (1, 2, 2)] == [True, True, True]
    assert lock.read() == 2


def test_an_extension_keeps_version_and_owner(lock: OptimisticLock, clock: Clock) -> None:
    lease = taken(lock)
    clock.now += 9
    longer = lock.extend(lease)
    clock.now += 9
    assert lock.try_acquire() is None
    assert (longer.fence, longer.token) == (lease.fence, lease.token)
    lock.release(lease)


@pytest.mark.parametrize("call", ["extend", "release"])
@pytest.mark.parametrize("reason", ["expired", "stolen"])
def test_a_loss_is_told_with_its_reason(lock: OptimisticLock, clock: Clock, call: str, reason: str) -> None:
    lease = taken(lock)
    clock.now += 10
    lock.reap() if reason == "expired" else taken(lock)
    with pytest.raises(LeaseLost) as lost:
        getattr(lock, call)(lease)
    assert lost.value.reason == reason


def test_the_reaper_frees_what_has_run_out_and_nothing_else(lock: OptimisticLock, clock: Clock) -> None:
    taken(lock)
    clock.now += 5
    held = taken(OptimisticLock(lock.db, "other", 10.0, clock=clock))
    clock.now += 5
    assert (lock.reap(), lock.reap()) == (1, 0)
    assert OptimisticLock(lock.db, "other", clock=clock).write(1, held) is True


def test_the_body_never_runs_without_a_claim_and_leaving_frees_it(lock: OptimisticLock) -> None:
    with lock.hold(0), pytest.raises(NotAcquired), lock.hold(0):
        raise AssertionError
    assert lock.try_acquire() is not None


def test_a_lease_of_another_row_is_misuse(lock: OptimisticLock) -> None:
    lease = taken(OptimisticLock(lock.db, "other"))
    for call in (lambda: lock.complete(1, lease), lambda: lock.release(lease), lambda: lock.write(1, lease)):
        with pytest.raises(Misuse):
            call()


def test_no_call_leaves_a_transaction_open(lock: OptimisticLock) -> None:
    lease = taken(lock)
    for call in (lock.try_acquire, lock.read, lock.reap, lambda: lock.write(1, lease), lambda: lock.release(lease)):
        call()  # type: ignore[operator]
        assert not lock.db.in_transaction


def test_a_ttl_that_is_none_is_refused_before_the_database_is_touched() -> None:
    with pytest.raises(ValueError, match=r"^ttl=0 is no span of time"):
        OptimisticLock(None, "task", ttl=0)


def test_in_the_world_it_goes_by_the_clients_wall_clock_and_waits_in_virtual_time() -> None:
    lock, got = OptimisticLock(sqlite3.connect(":memory:"), "task", 10.0), list[Any]()

    def worker(me: Any) -> None:
        began = time.monotonic()
        lease = lock.acquire(60)
        got.append((me.name, lease.fence if lease else None, round(time.monotonic() - began)))

    with World() as world:
        world.server("redis")
        for name in "AB":
            world.client(name).start(worker)  # A dies with its claim, so to speak: it never gives it back
        world.run()
    assert got == [("A", 1, 0), ("B", 2, 10)]
