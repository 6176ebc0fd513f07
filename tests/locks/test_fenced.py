"""What the fenced lock owes beyond SafeLock: a token with each grant, bound to it, and nothing locked without one; and
where the two that get it wrong are caught."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest
from redis.crc import key_slot
from redis.exceptions import ResponseError, TimeoutError

from labkit.checks import CHECKS
from labkit.faults import DropReply, Duplicate, Pause
from labkit.live import RedisServer
from labkit.locks import LOCKS, FencedLock, Misuse, WatchdogLock
from labkit.locks.broken.fenced_seed import SeedFencedLock
from labkit.locks.broken.incr_outside import IncrOutsideLock
from labkit.sim import World
from labkit.stores import FencedRegister
from labkit.timeline import Timeline
from tests.locks.stage import ONCE, Stage, played, taken

COUNTER = "{stock}:fence"


def lock_of(stage: Stage, client: str = "A", ttl: float = 10.0, **options: Any) -> FencedLock:
    lock = FencedLock(stage.redis(client, **options), "stock", ttl)
    lock._prepare()
    return lock


# -- the token ---------------------------------------------------------------------------------------------------------


@played
def test_each_grant_has_the_next_number(stage: Stage) -> None:
    lock, fences = lock_of(stage), list[int | None]()
    for _ in range(3):
        lease = taken(lock)
        fences.append(lease.fence)
        lock.release(lease)
    assert fences == [1, 2, 3]


@played
def test_a_refusal_uses_up_no_number(stage: Stage) -> None:
    lock, other = lock_of(stage), lock_of(stage, "B")
    first = taken(lock)
    assert [other.try_acquire() for _ in range(3)] == [None] * 3
    lock.release(first)
    assert taken(other).fence == 2


@played
def test_an_extension_keeps_the_number(stage: Stage) -> None:
    lock = lock_of(stage)
    lease = taken(lock)
    stage.bystander.incr(COUNTER)
    assert lock.extend(lease).fence == lease.fence == 1


@played
def test_the_lock_is_not_re_entrant(stage: Stage) -> None:
    lock = lock_of(stage)
    taken(lock)
    assert lock.try_acquire() is None


@played
def test_a_lost_reply_to_the_grant_is_asked_for_again_and_gives_the_same_number(stage: Stage) -> None:
    lock = lock_of(stage, ttl=30.0)
    stage.arm(DropReply(on="EVALSHA", client="A"))
    lease = taken(lock)
    assert (lease.fence, stage.bystander.get(COUNTER)) == (1, b"1")
    assert stage.holder() == lease.token


@played
def test_a_second_copy_of_the_grant_counts_once(stage: Stage) -> None:
    lock = lock_of(stage)
    stage.arm(Duplicate(on="EVALSHA", client="A", after=0.002))
    assert taken(lock).fence == 1
    stage.rest(0.01)
    assert stage.bystander.get(COUNTER) == b"1"


@played
def test_a_grant_whose_outcome_stays_unknown_leaves_nothing_locked(stage: Stage) -> None:
    lock = lock_of(stage, **ONCE)
    stage.arm(DropReply(on="EVALSHA", client="A"))
    with pytest.raises(TimeoutError):
        lock.try_acquire()
    assert stage.holder() is None


@played
def test_an_answer_that_outlasts_the_lease_is_no_grant(stage: Stage) -> None:
    lock = lock_of(stage, ttl=2.0)
    stage.arm(Pause("A", lasting=3.0, at=stage.world.now + 0.0007))  # the request has left, its reply waits
    assert lock.try_acquire() is None


@played
def test_a_server_that_has_forgotten_the_script_is_told_it_again(stage: Stage) -> None:
    lock = lock_of(stage)
    stage.bystander.script_flush()
    assert taken(lock).fence == 1


@played
def test_the_counter_outlives_the_lock(stage: Stage) -> None:
    lock = lock_of(stage)
    lock.release(taken(lock))
    assert stage.bystander.pttl(COUNTER) == -1


@played
def test_a_watchdog_renews_it_under_the_same_number(stage: Stage) -> None:
    lock = WatchdogLock(stage.redis("A"), "stock", 9.0, kind=FencedLock)
    lease = taken(lock)
    stage.rest(20.0)
    assert (stage.holder(), lock.extend(lease).fence) == (lease.token, 1)
    lock.release(lease)


# -- a counter that is none --------------------------------------------------------------------------------------------


def spoilt(how: str, redis: Any) -> None:
    redis.hset(COUNTER, "a", 1) if how == "hash" else redis.set(COUNTER, how)


JUNK = ["apples", "1.5", "", str(2**63 - 1), "-3", "hash"]


@pytest.mark.parametrize("junk", JUNK)
def test_e03_a_counter_that_is_no_number_is_told_and_nothing_is_locked(stage: Stage, junk: str) -> None:
    def scenario(stage: Stage) -> None:
        spoilt(junk, stage.bystander)
        lock = lock_of(stage)
        with pytest.raises(Misuse, match=r"'\{stock\}:fence' gives no fencing token .*, and 'stock' is not locked"):
            lock.try_acquire()
        assert stage.holder() is None
        stage.bystander.delete(COUNTER)
        stage.bystander.set(COUNTER, 41)
        assert taken(lock).fence == 42

    stage.play(scenario)


@pytest.mark.parametrize("junk", JUNK)
def test_e03_it_is_the_same_on_a_real_redis(real_redis: RedisServer, junk: str) -> None:
    with real_redis.client() as redis:
        spoilt(junk, redis)
        with pytest.raises(Misuse, match="is not locked"):
            FencedLock(redis, "stock").try_acquire()
        assert not redis.exists("stock")


@played
def test_a_counter_that_is_gone_when_the_grant_is_asked_for_again_is_told(stage: Stage) -> None:
    lock = lock_of(stage, ttl=30.0)
    stage.arm(DropReply(on="EVALSHA", client="A"))
    stage.world.at(stage.world.now + 1.0, lambda: stage.world.evict("redis", COUNTER))
    with pytest.raises(Misuse, match="it is gone"):
        lock.try_acquire()
    assert stage.holder() is None


@pytest.mark.parametrize("name", ["stock", "shop:{7}:stock"])
def test_e24_the_counter_is_in_the_slot_of_its_lock(name: str) -> None:
    assert key_slot(FencedLock(None, name).counter.encode()) == key_slot(name.encode())


def test_e26_a_number_beyond_two_to_the_53_arrives_as_it_is(real_redis: RedisServer) -> None:
    """On a real Redis: it is the server's own passing from Lua that rounds."""
    with real_redis.client() as redis:
        redis.set(COUNTER, 2**53)
        assert taken(FencedLock(redis, "stock")).fence == 2**53 + 1
        redis.set("other:token", 2**53)
        assert taken(SeedFencedLock(redis, "other")).fence == 2**53


# -- with a store ------------------------------------------------------------------------------------------------------


@played
def test_e22_a_counter_that_repeats_a_number_lets_nobody_write_over_another(stage: Stage) -> None:
    lock, other, store = lock_of(stage), lock_of(stage, "B"), FencedRegister(stage.redis("S"), "sold")
    first = taken(lock)
    assert store.register(first)
    stage.bystander.delete("stock")  # a failover forgets the grant and the number
    stage.bystander.delete(COUNTER)
    second = taken(other)
    assert second.fence == first.fence
    assert (store.register(second), store.write(1, second), store.write(1, first)) == (False, False, True)


@played
def test_e23_a_counter_that_starts_again_shuts_new_holders_out_until_it_has_caught_up(stage: Stage) -> None:
    lock, store = lock_of(stage), FencedRegister(stage.redis("S"), "sold")
    stage.bystander.set(COUNTER, 2)
    third = taken(lock)
    store.register(third)
    lock.release(third)
    stage.bystander.delete(COUNTER)
    answers = list[bool]()
    for _ in range(4):
        lease = taken(lock)
        answers.append(store.register(lease))
        lock.release(lease)
    assert answers == [False, False, False, True]


# -- the two that get it wrong -----------------------------------------------------------------------------------------


def check_of(kind: Any) -> str:
    return str(sys.modules[kind.__module__].CAUGHT_BY)


def run(*codes: Any, fault: Any = None) -> Timeline:
    with World() as world:
        world.server("redis")
        for name, code in zip("AB", codes, strict=False):
            world.client(name).start(code)
        if fault is not None:
            world.arm(fault)
        return world.run(until=100.0)


def broken_counter(kind: Any) -> Timeline:
    """s1′: the counter holds no number; A is told and leaves. B repairs it at 3 s and wants the lock."""
    counters = ("stock:token", COUNTER)

    def a(me: Any) -> None:
        me.redis().mset(dict.fromkeys(counters, "apples"))
        lock = me.lock(kind(me.redis(), "stock"))
        with pytest.raises((ResponseError, Misuse)):
            lock.acquire(0)

    def b(me: Any) -> None:
        time.sleep(3)
        me.redis().mset(dict.fromkeys(counters, 41))
        lock = me.lock(kind(me.redis(), "stock", poll=0.1))
        lock.release(lock.acquire(20))

    return run(a, b)


def drawn_late(kind: Any) -> Timeline:
    """E80: A has the lock and stands still before its next command; B gets the lock after it, registers and writes."""

    def code(me: Any) -> None:
        lock, store = me.lock(kind(me.redis(), "stock", poll=0.1)), me.store(FencedRegister(me.redis(), "sold"))
        if me.name == "B":
            time.sleep(1)
        lease = lock.acquire(20)
        if store.register(lease):
            seen = store.read()
            time.sleep(0.5 if me.name == "A" else 1.0)
            store.write(seen + 1, lease)
            time.sleep(5)

    return run(code, code, fault=Pause("A", 12.0, on="INCRBY" if kind is IncrOutsideLock else "EVAL"))


def fences(timeline: Timeline) -> dict[str, int]:
    return {op.node: op.value["fence"] for op in timeline.ops("acquire") if op.outcome == "ok"}


def test_e03_the_articles_lock_is_taken_for_nobody_and_stays_so_for_its_ttl() -> None:
    timeline = broken_counter(SeedFencedLock)
    first = timeline.truth("stock")[0]
    assert (first.why, round(first.end - first.start)) == ("expired", 10)
    verdict = CHECKS[check_of(SeedFencedLock)](timeline)
    assert verdict.holds is False, verdict


def test_e03_the_sound_lock_is_free_once_the_counter_is_repaired() -> None:
    timeline = broken_counter(FencedLock)
    (only,) = timeline.truth("stock")
    assert fences(timeline) == {"B": 42} and only.start < 3.1
    verdict = CHECKS[check_of(SeedFencedLock)](timeline)
    assert verdict.holds is True, verdict


def test_e80_a_token_drawn_after_the_grant_takes_the_late_holder_for_the_newer() -> None:
    timeline = drawn_late(IncrOutsideLock)
    assert fences(timeline) == {"A": 2, "B": 1}
    verdict = CHECKS[check_of(IncrOutsideLock)](timeline)
    assert verdict.holds is False and "A's write" in verdict.why


def test_e80_a_token_of_the_grant_tells_them_apart() -> None:
    timeline = drawn_late(FencedLock)
    assert fences(timeline) == {"A": 1, "B": 2}
    assert CHECKS[check_of(IncrOutsideLock)](timeline).holds is True
    assert [op.node for op in timeline.ops("register") if op.outcome == "fail"] == ["A"]


def test_e24_the_articles_keys_are_in_two_slots() -> None:
    assert key_slot(b"lock") != key_slot(b"lock:token")


def test_e25_the_articles_half_second_is_an_error(real_redis: RedisServer) -> None:
    with real_redis.client() as redis:
        with pytest.raises(ResponseError, match="invalid expire"):
            SeedFencedLock(redis, "stock", ttl=0.5).try_acquire()
        assert FencedLock(redis, "stock", ttl=0.5).try_acquire() is not None


def test_the_lists_know_them() -> None:
    assert [LOCKS[name] for name in ("fenced", "fenced-seed", "incr-outside")] == [
        FencedLock,
        SeedFencedLock,
        IncrOutsideLock,
    ]


@pytest.fixture
def redis(real_redis: RedisServer) -> Iterator[Any]:
    with real_redis.client() as client:
        yield client


def test_a_whole_round_on_a_real_redis(redis: Any) -> None:
    lock, store = FencedLock(redis, "stock"), FencedRegister(redis, "sold")
    with lock.hold(1) as first:
        assert store.register(first) and store.write(store.read() + 1, first)
    with lock.hold(1) as second:
        assert store.register(second)
        assert (store.write(9, first), store.write(2, second), store.read()) == (False, True, 2)
