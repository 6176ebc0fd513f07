"""Each store that compares wrongly is caught by the check that it names, in the schedule that its docstring tells; the
sound one is not, in the same schedule."""

from __future__ import annotations

import sys
import time
from typing import Any

import pytest
from redis.crc import key_slot
from redis.exceptions import ResponseError

from labkit.checks import CHECKS
from labkit.faults import Pause
from labkit.locks import FencedLock
from labkit.sim import World
from labkit.stores import FencedRegister
from labkit.stores.broken import OwnerlessRegister, PerRowRegister, StrictRegister, WriteOnlyRegister
from labkit.stores.interleavings import Holder
from labkit.timeline import Timeline
from tests.stores.places import in_world

BROKEN = [StrictRegister, WriteOnlyRegister, OwnerlessRegister, PerRowRegister]


def check_of(kind: Any) -> str:
    return str(sys.modules[kind.__module__].CAUGHT_BY)


def late_write(kind: Any, repeated: bool = False) -> Timeline:
    """s2′: A reads at 1 s and stands still to 10.5 s; B gets the lock at 10 s, reads at once and writes at 11 s.
    `repeated`: a failover in between has forgotten A's token, so that B gets the same one."""

    def a(me: Any) -> None:
        lock, store = me.lock(FencedLock(me.redis(), "stock")), me.store(kind(me.redis(), "sold"))
        lease = lock.acquire(0)
        time.sleep(1)
        if store.register(lease):
            seen = store.read()
            time.sleep(1)
            store.write(seen + 1, lease)

    def b(me: Any) -> None:
        lock, store = me.lock(FencedLock(me.redis(), "stock", poll=0.01)), me.store(kind(me.redis(), "sold"))
        time.sleep(1)
        if repeated:
            me.redis().decr(lock.counter)
        lease = lock.acquire(20)
        if store.register(lease):
            seen = store.read()
            time.sleep(1)
            store.write(seen + 1, lease)

    return played(a, b, Pause("A", 9.0, at=1.5))


def other_row(kind: Any, repeated: bool = False) -> Timeline:
    """E78: A registers at both parts of an order and pauses; B gets the lock and touches only the state of the order;
    A writes the items."""

    def parts(me: Any) -> list[Any]:
        names = ("{order}:state", "{order}:items")
        return [me.store(kind(me.redis(), name, "{order}")) for name in names]

    def a(me: Any) -> None:
        lock = me.lock(FencedLock(me.redis(), "stock"))
        lease, (state, items) = lock.acquire(0), parts(me)
        for part in (state, items):
            part.register(lease)
        time.sleep(1)
        items.write(1, lease)

    def b(me: Any) -> None:
        lock = me.lock(FencedLock(me.redis(), "stock", poll=0.01))
        time.sleep(1)
        lease, (state, _) = lock.acquire(20), parts(me)
        if state.register(lease):
            state.write(1, lease)

    return played(a, b, Pause("A", 15.0, at=0.5))


def played(a: Any, b: Any, fault: Any) -> Timeline:
    with World() as world:
        world.server("redis")
        world.client("A").start(a)
        world.client("B").start(b)
        world.arm(fault)
        return world.run(until=100.0)


SCHEDULES = [
    (StrictRegister, late_write, False),
    (WriteOnlyRegister, late_write, False),
    (OwnerlessRegister, late_write, True),
    (PerRowRegister, other_row, False),
]


@pytest.mark.parametrize(("kind", "schedule", "repeated"), SCHEDULES)
def test_the_flaw_is_found(kind: Any, schedule: Any, repeated: bool) -> None:
    verdict = CHECKS[check_of(kind)](schedule(kind, repeated))
    assert verdict.holds is False, verdict


@pytest.mark.parametrize(("kind", "schedule", "repeated"), SCHEDULES)
def test_the_sound_store_is_not_blamed(kind: Any, schedule: Any, repeated: bool) -> None:
    timeline = schedule(FencedRegister, repeated)
    assert CHECKS[check_of(kind)](timeline).holds is not False
    refused = [op for op in timeline.ops() if op.name in ("register", "write") and op.outcome == "fail"]
    assert refused, "the schedule has not put the store to the test"


def test_each_broken_store_has_its_schedule() -> None:
    assert [kind for kind, *_ in SCHEDULES] == BROKEN


# -- counterexamples that need no lock ---------------------------------------------------------------------------------


def stock(redis: Any, kind: Any) -> list[Any]:
    """E20: ten in stock; A has token 1, B token 2; B reads, A's late write comes, B writes."""
    a, b, store = Holder("A", 1), Holder("B", 2), kind(redis, "stock")
    redis.set("stock", 10)
    store.register(a)
    store.register(b)
    seen = store.read()
    return [store.write(9, a), store.write(seen - 1, b), store.read()]


def test_e20_the_store_knows_a_token_when_it_sees_it_not_when_it_is_granted() -> None:
    assert in_world(lambda redis: stock(redis, StrictRegister)) == [True, True, 9]  # two were sold
    assert in_world(lambda redis: stock(redis, WriteOnlyRegister)) == [True, True, 9]
    assert in_world(lambda redis: stock(redis, FencedRegister)) == [False, True, 9]


def steps(redis: Any, kind: Any) -> list[bool]:
    store, a = kind(redis, "stock"), Holder("A", 1)
    store.register(a)
    return [store.write(1, a), store.write(2, a)]


def test_e21_strictly_higher_refuses_the_holders_own_second_write() -> None:
    assert in_world(lambda redis: steps(redis, StrictRegister)) == [True, False]
    assert in_world(lambda redis: steps(redis, FencedRegister)) == [True, True]


def neighbours(redis: Any, kind: Any) -> list[bool]:
    """Whether the newer of two neighbours beyond 2^53 is taken after the older one."""
    store, answers = kind(redis, "stock"), list[bool]()
    for holder in (Holder("A", 2**53), Holder("B", 2**53 + 1)):
        answers.append(store.register(holder) and store.write(1, holder))
    return answers


def test_e26_numbers_of_lua_are_doubles() -> None:
    assert in_world(lambda redis: neighbours(redis, StrictRegister)) == [True, False]
    assert in_world(lambda redis: neighbours(redis, FencedRegister)) == [True, True]


def test_e24_a_key_that_is_made_up_inside_a_script_is_in_another_slot() -> None:
    assert key_slot(b"stock") != key_slot(b"stock:fencing")
    sound = FencedRegister(None, "stock")
    assert key_slot(sound.name.encode()) == key_slot(sound.guard.encode())


def test_e28_what_runs_once_can_still_run_in_the_wrong_order() -> None:
    """Set the price to 10 under key a, to 20 under key b; b comes first, a late: each has run once, and it is 10."""

    def idempotent(redis: Any) -> bytes:
        for key, price in (("b", 20), ("a", 10), ("a", 10)):
            if redis.set(f"seen:{key}", 1, nx=True):
                redis.set("price", price)
        return bytes(redis.get("price"))

    def fenced(redis: Any) -> int:
        store = FencedRegister(redis, "price")
        for holder, price in ((Holder("b", 2), 20), (Holder("a", 1), 10)):
            if store.register(holder):
                store.write(price, holder)
        return store.read()

    assert in_world(idempotent) == b"10"
    assert in_world(fenced) == 20


def test_a_guard_that_is_none_is_an_error_not_a_refusal() -> None:
    def code(redis: Any) -> None:
        redis.set(FencedRegister(redis, "stock").guard, "junk")
        with pytest.raises(ResponseError, match="WRONGTYPE"):
            FencedRegister(redis, "stock").register(Holder("A", 1))

    in_world(code)
