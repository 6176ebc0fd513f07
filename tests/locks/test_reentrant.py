"""What the re-entrant lock owes to a thread that comes in more than once, and to those who must stay outside."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from redis.crc import key_slot
from redis.exceptions import TimeoutError

from labkit.faults import DropReply
from labkit.live import RedisServer
from labkit.locks import Lease, LeaseLost, ReentrantLock, WatchdogLock
from tests.locks.stage import ONCE, Stage, played, taken


def lock_of(stage: Stage, client: str = "A", ttl: float = 10.0, **options: Any) -> ReentrantLock:
    lock = ReentrantLock(stage.redis(client, **options), "stock", ttl)
    lock._prepare()
    return lock


def in_a_thread(call: Callable[[], Any]) -> Any:
    got = list[Any]()
    thread = threading.Thread(target=lambda: got.append(call()))
    thread.start()
    thread.join()
    return got[0]


# -- the count ---------------------------------------------------------------------------------------------------------


@played
def test_who_comes_in_twice_leaves_twice(stage: Stage) -> None:
    lock = lock_of(stage)
    outer, inner = taken(lock), taken(lock)
    lock.release(inner)
    assert stage.bystander.exists("stock")
    lock.release(outer)
    assert not stage.bystander.exists("stock")


@played
def test_the_entries_may_be_left_in_any_order(stage: Stage) -> None:
    lock = lock_of(stage)
    outer, inner = taken(lock), taken(lock)
    lock.release(outer)
    assert lock.entries(inner) == 1
    lock.release(inner)
    assert not stage.bystander.exists("stock")


@played
def test_one_entry_is_left_only_once(stage: Stage) -> None:
    lock = lock_of(stage)
    outer, inner = taken(lock), taken(lock)
    lock.release(inner)
    lock.release(inner)
    assert lock.entries(outer) == 1


@played
def test_a_leaked_entry_shows_in_the_count(stage: Stage) -> None:
    lock = lock_of(stage)
    outer = taken(lock)
    for _ in range(2):
        taken(lock)  # and never given back
    lock.release(outer)
    assert lock.entries(outer) == 2


@played
def test_the_count_of_a_lost_grant_is_none(stage: Stage) -> None:
    lock = lock_of(stage)
    lease = taken(lock)
    stage.bystander.delete("stock")
    assert lock.entries(lease) == 0
    lock_of(stage, "C").try_acquire()
    assert lock.entries(lease) == 0


@pytest.mark.parametrize("nth", [1, 2], ids=["outer", "inner"])
def test_an_entry_whose_reply_is_lost_is_counted_once(stage: Stage, nth: int) -> None:
    def scenario(stage: Stage) -> None:
        lock = lock_of(stage, ttl=30.0)
        stage.arm(DropReply(on="EVALSHA", nth=nth, client="A"))
        leases = [taken(lock) for _ in range(nth)]
        assert lock.entries(leases[0]) == nth

    stage.play(scenario)


@pytest.mark.parametrize("nth", [3, 4], ids=["inner", "outer"])
def test_a_departure_whose_reply_is_lost_is_counted_once_and_no_loss(stage: Stage, nth: int) -> None:
    def scenario(stage: Stage) -> None:
        lock = lock_of(stage, ttl=30.0)
        outer, inner = taken(lock), taken(lock)
        stage.arm(DropReply(on="EVALSHA", nth=nth - 2, client="A"))  # counted from when it is armed
        lock.release(inner)
        assert lock.entries(outer) == 1
        lock.release(outer)
        assert not stage.bystander.exists("stock")

    stage.play(scenario)


@pytest.mark.parametrize("nth", [1, 2], ids=["outer", "inner"])
def test_an_entry_whose_outcome_stays_unknown_leaves_no_count_behind(stage: Stage, nth: int) -> None:
    def scenario(stage: Stage) -> None:
        lock = lock_of(stage, **ONCE)
        leases = [taken(lock) for _ in range(nth - 1)]
        stage.arm(DropReply(on="EVALSHA", client="A"))
        with pytest.raises(TimeoutError):
            lock.try_acquire()
        assert [lock.entries(lease) for lease in leases] == [1] * (nth - 1)
        assert stage.bystander.exists("stock") == nth - 1

    stage.play(scenario)


# -- the lease ---------------------------------------------------------------------------------------------------------


@played
def test_re_entry_gives_a_full_lease_again(stage: Stage) -> None:
    lock = lock_of(stage)
    outer = taken(lock)
    stage.rest(6)
    inner = taken(lock)
    assert inner.deadline >= outer.deadline + 6
    assert stage.bystander.pttl("stock") > 9_990


@pytest.mark.parametrize("how", ["entry", "extension"])
def test_nothing_shortens_the_lease(stage: Stage, how: str) -> None:
    def scenario(stage: Stage) -> None:
        lock = lock_of(stage)
        lease = taken(lock)
        stage.bystander.pexpire("stock", 60_000)
        taken(lock) if how == "entry" else lock.extend(lease)
        assert stage.bystander.pttl("stock") > 59_000

    stage.play(scenario)


@played
def test_an_extension_stands_for_the_same_entry(stage: Stage) -> None:
    lock = lock_of(stage)
    outer = taken(lock)
    inner = lock.extend(taken(lock))
    lock.release(inner)
    assert lock.entries(outer) == 1


@played
def test_an_answer_that_outlasts_the_lease_is_no_entry(stage: Stage) -> None:
    lock = lock_of(stage, ttl=1.0)
    stage.arm(DropReply(on="EVALSHA", client="A"))  # asked again after 5 s
    assert lock.try_acquire() is None
    assert not stage.bystander.exists("stock")


# -- who is in ---------------------------------------------------------------------------------------------------------


@played
def test_another_thread_of_the_same_object_stays_outside(stage: Stage) -> None:
    lock = lock_of(stage)
    taken(lock)
    assert in_a_thread(lock.try_acquire) is None


@played
def test_the_same_thread_stays_outside_by_another_object(stage: Stage) -> None:
    taken(lock_of(stage))
    assert lock_of(stage).try_acquire() is None


@pytest.mark.real_redis
def test_a_thread_that_follows_a_dead_one_is_not_taken_for_it(real_redis: RedisServer) -> None:
    """The system gives the number of a thread that has ended to the next one."""
    lock = ReentrantLock(real_redis.client(), "stock")
    assert in_a_thread(lock.try_acquire) is not None
    assert in_a_thread(lock.try_acquire) is None
    lock.client.delete("stock")


@played
def test_who_comes_in_after_a_loss_has_a_grant_of_its_own(stage: Stage) -> None:
    lock = lock_of(stage)
    outer = taken(lock)
    stage.bystander.delete("stock")
    inner = taken(lock)
    with pytest.raises(LeaseLost):
        lock.release(outer)
    assert (inner.token != outer.token, lock.entries(inner)) == (True, 1)


@played
def test_who_has_left_for_good_asks_once(stage: Stage) -> None:
    lock = lock_of(stage)
    lock.release(taken(lock))
    sent = stage.requests()
    taken(lock)
    assert sent == ["EVALSHA"]


# -- under a watchdog --------------------------------------------------------------------------------------------------


@played
def test_a_watchdog_renews_it_until_the_last_has_left(stage: Stage) -> None:
    lock = WatchdogLock(stage.redis("A"), "stock", 3.0, kind=ReentrantLock)
    outer, inner = taken(lock), taken(lock)
    stage.rest(10)
    lock.release(inner)
    stage.rest(10)
    assert lock.lock.entries(outer) == 1
    lock.release(outer)
    sent = stage.requests()
    stage.rest(10)
    assert sent == [] and not stage.bystander.exists("stock")


@played
def test_an_inner_loss_is_told_and_ends_the_renewal(stage: Stage) -> None:
    told = list[str]()
    lock = WatchdogLock(stage.redis("A"), "stock", 30.0, kind=ReentrantLock, on_lost=told.append)
    outer, inner = taken(lock), taken(lock)
    stage.bystander.delete("stock")
    with pytest.raises(LeaseLost):
        lock.release(inner)
    stage.rest(0)
    assert told == ["expired"] and lock.watched(outer).lost.is_set()


@played
def test_a_new_grant_after_a_loss_is_renewed_again(stage: Stage) -> None:
    lock = WatchdogLock(stage.redis("A"), "stock", 3.0, kind=ReentrantLock)
    taken(lock)
    stage.bystander.delete("stock")
    stage.rest(5)
    inner = taken(lock)
    stage.rest(20)
    assert lock.lock.entries(inner) == 1


@played
def test_who_comes_in_again_after_it_was_told_and_before_the_server_forgets_is_renewed_again(stage: Stage) -> None:
    lock = WatchdogLock(stage.redis("A"), "stock", 30.0, kind=ReentrantLock, policy="first-error")
    outer, prolong = taken(lock), lock.lock.extend

    def fails(lease: Lease) -> Lease:
        lock.lock.extend = prolong
        raise TimeoutError("Timeout reading from socket")

    lock.lock.extend = fails
    stage.rest(29.8)  # its own clock gave it 29.7 s, the server gives it 30
    assert lock.watched(outer).lost.is_set()
    inner = taken(lock)
    stage.rest(60)
    assert lock.lock.entries(inner) == 2
    lock.release(inner)
    stage.rest(60)
    lock.release(outer)


@played
def test_a_leaked_entry_is_renewed_only_while_its_thread_lives(stage: Stage) -> None:
    lock = WatchdogLock(stage.redis("A"), "stock", 3.0, kind=ReentrantLock)

    def leaks() -> None:
        lease = lock.try_acquire()
        lock.try_acquire()
        lock.release(lease)  # type: ignore[arg-type]
        time.sleep(10)
        assert stage.bystander.exists("stock")

    in_a_thread(leaks)
    stage.rest(3.1)
    assert not stage.bystander.exists("stock")


# -- after a fork, and after a repeated release ------------------------------------------------------------------------


def test_a_forked_process_is_not_inside(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    def scenario(stage: Stage) -> None:
        lock = lock_of(stage)
        taken(lock)
        monkeypatch.setattr("labkit.locks.reentrant.os.getpid", lambda: -1)
        assert lock.try_acquire() is None

    stage.play(scenario)


def test_a_repeated_release_of_an_inner_lease_leaves_the_outer_ones_renewal_alone(stage: Stage) -> None:
    def scenario(stage: Stage) -> None:
        lock = WatchdogLock(stage.redis("A"), "stock", ttl=3.0, kind=ReentrantLock)
        outer, inner = taken(lock), taken(lock)
        lock.release(inner)
        lock.release(inner)
        time.sleep(10)
        lock.release(outer)  # still ours

    stage.play(scenario)


def test_a_watchdog_begins_anew_after_a_fork(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    def scenario(stage: Stage) -> None:
        lock = WatchdogLock(stage.redis("A"), "stock", ttl=3.0)
        lock.release(taken(lock))
        lock.dog._due, lock.dog._callers, lock.dog._awake_at = [], 1, 0.0  # as a child finds it: no thread is there
        monkeypatch.setattr("labkit.locks.dog.os.getpid", lambda: -1)
        held = taken(lock)
        time.sleep(10)
        lock.release(held)

    stage.play(scenario)


@pytest.mark.parametrize("name", ["stock", "{user:1}:lock", "a{b}c"])
def test_a_lock_and_its_receipts_are_in_one_slot_of_a_cluster(name: str) -> None:
    receipt = ReentrantLock(None, name)._receipt("a1b2")
    assert key_slot(receipt.encode()) == key_slot(name.encode())
