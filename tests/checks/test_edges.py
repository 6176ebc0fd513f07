"""What could fool a check, or make it cry wolf. Odd locks are small classes here, played in stories of the course."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from redis.backoff import NoBackoff
from redis.exceptions import TimeoutError
from redis.retry import Retry

from labkit.checks import CHECKS, judge
from labkit.faults import Delay, DropReply
from labkit.locks import Lease, LeaseLost, SafeLock
from labkit.locks.broken.ghost import GhostLock
from labkit.locks.broken.shared_id import SharedIdLock
from labkit.sim import World
from labkit.stores import Register
from labkit.stories import play
from labkit.story import Param, Story
from labkit.timeline import Timeline

# -- nobody releases another's lock ------------------------------------------------------------------------------------


class ShortensOnRelease(SafeLock):
    """Gives the lock back by letting it run out, whoever holds it by then."""

    def release(self, lease: Lease) -> None:
        self.client.pexpire(self.name, 1)


class ClearsUpAfterRefusal(SafeLock):
    """Deletes what it finds when it has not got the lock."""

    def try_acquire(self) -> Lease | None:
        lease = super().try_acquire()
        if lease is None:
            self.client.delete(self.name)
        return lease


class OverwritesOnExtend(SafeLock):
    """Extends by writing its value again, without a look at what is there."""

    def extend(self, lease: Lease) -> Lease:
        self.client.set(self.name, lease.token, px=self._ms)
        return Lease(self.name, lease.token, None, time.monotonic() + self.ttl)


class DatesItsValue(SafeLock):
    """Writes a new value with each extension, and is right in all else."""

    def extend(self, lease: Lease) -> Lease:
        longer = super().extend(lease)
        self.client.set(self.name, lease.token + "+", px=self._ms, xx=True)
        return longer

    def release(self, lease: Lease) -> None:
        self.client.delete(self.name)


def extends_late(me: Any, p: Any) -> None:
    """Acquires, oversleeps the lease, extends."""
    lock = me.lock(p.lock(me.redis(), "stock", 2.0))
    lease = lock.acquire(0)
    time.sleep(p.sleep)
    with suppress(LeaseLost):
        lock.release(lock.extend(lease))


def waits(me: Any, p: Any) -> None:
    lock = me.lock(SafeLock(me.redis(), "stock", 2.0, poll=0.1))
    lease = lock.acquire(10)
    time.sleep(1.5)
    with suppress(LeaseLost):
        lock.release(lease)


def late_extension(lock: type, sleep: float = 3.0) -> Timeline:
    params = {"lock": Param(lock, choices=("safe",), classes=True), "sleep": Param(sleep, 0.0, 10.0)}
    return play(Story("late-extension", "", {"A": extends_late, "B": waits}, params))


def test_a_release_that_cuts_anothers_lock_short_is_found() -> None:
    verdict = CHECKS["own_release"](play("late-release", lock=ShortensOnRelease))
    assert verdict.holds is False and "A's release" in verdict.why and "cut short" in verdict.why


def test_a_clean_up_that_deletes_anothers_lock_is_found() -> None:
    verdict = CHECKS["own_release"](play("gc-pause", pause=0, lock=ClearsUpAfterRefusal))
    assert (
        verdict.holds is False and "B's acquire" in verdict.why and "deleted the lock stock that A held" in verdict.why
    )


def test_an_extension_over_anothers_lock_is_found() -> None:
    verdict = CHECKS["own_release"](late_extension(OverwritesOnExtend))
    assert (
        verdict.holds is False and "A's extend" in verdict.why and "overwrote the lock stock that B held" in verdict.why
    )


def test_the_end_of_a_lock_whose_value_an_extension_changed_is_its_own_end() -> None:
    assert CHECKS["own_release"](late_extension(DatesItsValue, sleep=1.0)).holds is True


# -- what the lock answers ---------------------------------------------------------------------------------------------


class ForgetsToRelease(SafeLock):
    def release(self, lease: Lease) -> None:
        pass


class SaysExtended(SafeLock):
    def extend(self, lease: Lease) -> Lease:
        self.client.pexpire(self.name, self._ms)
        return Lease(self.name, lease.token, None, time.monotonic() + self.ttl)


def test_a_release_that_does_nothing_is_not_honest() -> None:
    verdict = CHECKS["honest"](play("gc-pause", pause=0, lock=ForgetsToRelease))
    assert verdict.holds is False and "stock is released, and still holds it" in verdict.why


@pytest.mark.parametrize("lock", [SaysExtended, OverwritesOnExtend])
def test_an_extension_of_what_is_gone_is_not_honest(lock: type) -> None:
    verdict = CHECKS["honest"](late_extension(lock))
    assert verdict.holds is False and "extended, and it had ended before" in verdict.why


def test_the_safe_locks_extensions_are_honest() -> None:
    assert CHECKS["honest"](late_extension(SafeLock)).holds is True
    assert CHECKS["honest"](late_extension(SafeLock, sleep=1.0)).holds is True


def test_a_request_that_arrives_after_the_answer_is_not_held_against_it() -> None:
    def asks_once(me: Any, p: Any) -> None:
        assert me.lock(GhostLock(me.redis(), "stock", 4.0)).acquire(0) is None
        time.sleep(5.0)

    def works(me: Any, p: Any) -> None:
        lock = me.lock(SafeLock(me.redis(), "stock", 10.0))
        lease = lock.acquire(0)
        time.sleep(6.0)
        lock.release(lease)

    faults = [Delay(on="SET", client="A", by=7.0)]  # asked again after 5 s, and refused: B has the lock
    timeline = play(Story("late-set", "", {"A": asks_once, "B": works}, faults=lambda p: faults))
    assert [hold.owner for hold in timeline.truth("stock")] == ["B", "A"]
    assert CHECKS["honest"](timeline).holds is True


def test_a_receipt_outlasts_a_short_lease() -> None:
    timeline = play("lost-release", lock="safe", ttl=1)
    assert CHECKS["honest"](timeline).holds is True


# -- who believes ------------------------------------------------------------------------------------------------------


def test_one_client_that_acquires_twice_is_not_two_believers() -> None:
    def forgetful(me: Any, p: Any) -> None:
        lock = me.lock(SafeLock(me.redis(), "stock", 1.0, poll=0.1))
        lock.acquire(0)
        lock.acquire(5)
        time.sleep(0.5)
        me.note("A goes home.")

    timeline = play(Story("forgetful", "", {"A": forgetful}))
    assert len(timeline.belief()) == 2
    assert CHECKS["one_believer"](timeline).holds is True


def test_a_lease_that_arrives_after_its_end_is_never_valid() -> None:
    timeline = play("gc-pause", lock="ghost", at=0.0006, pause=12.0)  # A stands still between its SET and the reply
    assert [belief.valid for belief in timeline.belief() if belief.node == "A"] == [()]
    assert CHECKS["exclusive_grants"](timeline).holds is True


# -- stuck -------------------------------------------------------------------------------------------------------------


def test_a_lost_grant_that_is_cleaned_up_is_not_stuck() -> None:
    story = Story("gone", "", {"A": _gives_up}, faults=lambda p: [DropReply(on="SET", client="A")])
    assert CHECKS["not_stuck"](play(story)).holds is True


def _gives_up(me: Any, p: Any) -> None:
    client = me.redis(retry=Retry(NoBackoff(), 0), socket_timeout=0.5)
    with suppress(TimeoutError):
        me.lock(SafeLock(client, "stock", 2.0)).acquire(0)


class StaysThreeTimesAsLong(SafeLock):
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._ms *= 3


def test_a_key_that_outlives_its_ttl_by_far_is_stuck() -> None:
    verdict = CHECKS["not_stuck"](play("ttl-dilemma", crash="yes", lock=StaysThreeTimesAsLong))
    assert verdict.holds is False and "A left at t = 1.000 s, but stock stays taken until t = 30.0" in verdict.why


def test_a_lock_that_nobody_left_is_not_called_stuck() -> None:
    def keeps_it(me: Any, p: Any) -> None:
        lock = me.lock(StaysThreeTimesAsLong(me.redis(), "stock", 2.0))
        lock.acquire(0)
        time.sleep(20)
        me.note("A has never let go.")

    assert CHECKS["not_stuck"](play(Story("keeper", "", {"A": keeps_it}))).holds is None


def test_an_earlier_acquisition_of_the_same_client_counts_as_anothers() -> None:
    def forgetful(me: Any) -> None:
        lock = me.lock(SharedIdLock(me.redis(), "stock", ttl=2.0))
        first = lock.acquire(0)
        time.sleep(3)
        assert lock.acquire(0) is not None
        lock.release(first)

    with World() as world:
        world.server()
        world.client("A").start(forgetful)
        timeline = world.run()

    assert judge(timeline, "own_release").holds is False


# -- what a recording does not show, and what a lock only claims -------------------------------------------------------


class Boaster(SafeLock):
    """Says that it has the lock, and asks nobody."""

    def try_acquire(self) -> Lease | None:
        return Lease(self.name, "t", None, time.monotonic() + self.ttl)

    def release(self, lease: Lease) -> None:
        """Nothing to do."""


def bare(timeline: Timeline) -> Timeline:
    """The same run as a client alone could have recorded it."""
    place = {e.seq: n for n, e in enumerate(e for e in timeline if e.kind in ("invoke", "ok", "fail", "unknown"))}
    kept = (e for e in timeline if e.seq in place)
    return Timeline(tuple(replace(e, seq=place[e.seq], cause=place.get(e.cause or 0)) for e in kept))


def test_a_lock_that_no_server_has_given_is_no_lock() -> None:
    def boast(me: Any) -> None:
        redis = me.redis()
        redis.ping()
        lock = me.lock(Boaster(redis, "stock"))
        lock.release(lock.acquire(0))

    with World() as world:
        world.server()
        world.client("A").start(boast)
        timeline = world.run()

    assert judge(timeline, "honest").holds is False


@pytest.mark.parametrize("check", ["own_release", "honest"])
def test_what_became_of_the_keys_is_unknown_where_no_server_is_recorded(check: str) -> None:
    run = play("late-release", lock="plain-del")
    assert judge(bare(run), check).holds is None


def test_a_release_from_a_thread_is_a_release() -> None:
    class Threaded(SafeLock):
        def release(self, lease: Lease) -> None:
            thread = threading.Thread(target=lambda: self.client.delete(self.name))
            thread.start()
            thread.join()

    assert judge(play("late-release", lock=Threaded), "own_release").holds is False


def test_a_lock_that_is_renewed_long_after_its_holder_has_left_is_stuck() -> None:
    def zombie(me: Any) -> None:
        redis = me.redis()
        lock = me.lock(SafeLock(redis, "stock", ttl=4.0))
        lease = lock.acquire(0)
        me.lost("stock", "it leaves without a word")
        for _ in range(10):
            time.sleep(2)
            redis.pexpire("stock", 4000)
        assert lease is not None

    with World() as world:
        world.server()
        world.client("A").start(zombie)
        timeline = world.run()

    assert judge(timeline, "not_stuck").holds is False


def test_a_write_under_another_name_than_its_key_is_found_although_its_reply_is_lost() -> None:
    def late(me: Any) -> None:
        redis = me.redis(retry=Retry(NoBackoff(), 0), socket_timeout=0.5)
        lock = me.lock(SafeLock(redis, "stock", ttl=2.0))
        shelf = me.store(Register(redis, "app:sold"), name="sold")
        assert lock.acquire(0)
        time.sleep(4)
        with suppress(TimeoutError):
            shelf.write(1)

    def other(me: Any) -> None:
        time.sleep(3)
        lock = me.lock(SafeLock(me.redis(), "stock", ttl=9.0))
        assert lock.acquire(0)
        time.sleep(5)

    with World() as world:
        world.server()
        world.client("A").start(late)
        world.client("B").start(other)
        world.arm(DropReply(on="SET", nth=2, client="A"))
        timeline = world.run()

    assert timeline.ops("write")[0].outcome == "unknown"
    assert judge(timeline, "no_stale_write").holds is False
