"""Failover: what a promoted replica has forgotten, who goes on with the old primary, and what becomes of it later."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

import pytest
import redis

from labkit.checks import exclusive_grants, no_lost_update
from labkit.faults import ClockStep, Failover, Partition, Pause, Replica, Restart
from labkit.locks import LeaseLost, SafeLock
from labkit.sim import World
from labkit.stores import Register
from labkit.timeline import Timeline
from labkit.viz.layout import layout
from labkit.viz.palette import GREY
from tests.sim.playing import ONCE, at, notes, play

R1 = Replica("r1", lag=0.1)
TTL = 10.0


def sleep_until(second: float) -> None:
    time.sleep(max(second - at(), 0))


def holding(start: float, end: float, wait: bool = False, renew: float = 0.0) -> Any:
    """A client that takes the lock at one second and works under it to another, renewing it every `renew` seconds;
    `wait`: after the grant it asks by WAIT for one replica."""

    def code(me: Any) -> None:
        sleep_until(start)
        client = me.redis(retry=ONCE, socket_timeout=2)
        lock = me.lock(SafeLock(client, "stock", ttl=TTL))
        lease = lock.acquire(0)
        if lease is None:
            return
        if wait:
            me.note(f"WAIT says {client.wait(1, 1000)}")
        with suppress(LeaseLost):
            while renew and at() + renew < end:
                time.sleep(renew)
                lease = lock.extend(lease)
            sleep_until(end)
        me.leaves("done")

    return code


def granted(timeline: Timeline) -> list[tuple[str, int]]:
    """Who got the lock, and in which second."""
    return [(b.node, int(b.start)) for b in timeline.belief("stock")]


# -- s4: an acknowledged lock is lost -----------------------------------------------------------------------------


def test_a_lock_that_was_acknowledged_and_not_passed_on_is_lost() -> None:
    timeline = play(holding(0, 5), holding(1, 3), faults=[R1, Failover(at=0.002, takes=0.5)])
    assert granted(timeline) == [("A", 0), ("B", 1)]
    assert exclusive_grants.check(timeline).holds is False
    assert [e.data["to"] for e in timeline.find("drop", "redis")] == ["r1"]


def test_a_lock_that_was_passed_on_in_time_is_kept() -> None:
    timeline = play(holding(0, 5), holding(1, 3), faults=[R1, Failover(at=0.2, takes=0.5)])
    assert granted(timeline) == [("A", 0)]
    assert [e.data for e in timeline.find("promote", "r1")] == [{"of": "redis"}]


def test_a_dead_primary_says_nothing_any_more_of_its_keys() -> None:
    timeline = play(holding(0, 5), faults=[R1, Failover(at=0.5)])
    assert [(h.server, h.end) for h in timeline.truth("stock")] == [("redis", 0.5), ("r1", 5.0)]


def test_after_wait_another_replica_may_still_be_the_one_that_is_promoted() -> None:
    """s4′: one of two has acknowledged; it cannot be reached when the primary dies."""
    faults = [R1, Replica("r2", lag=1.0), Failover(to="r2", at=0.5, takes=0.1), Partition("r1", "r2", at=0.4)]
    timeline = play(holding(0, 5, wait=True), holding(1, 3), faults=faults)
    assert "WAIT says 1" in notes(timeline)
    assert granted(timeline) == [("A", 0), ("B", 1)]
    assert exclusive_grants.check(timeline).holds is False


def test_had_the_one_that_acknowledged_been_promoted_the_lock_was_kept() -> None:
    faults = [R1, Replica("r2", lag=1.0), Failover(to="r1", at=0.5, takes=0.1)]
    assert granted(play(holding(0, 5, wait=True), holding(1, 3), faults=faults)) == [("A", 0)]


def test_an_acknowledged_lock_has_expired_on_a_replica_whose_clock_is_ahead() -> None:
    """E43: what is replicated is the absolute time, and WAIT does not ask about clocks."""
    faults = [R1, ClockStep("r1", by=15), Failover(at=0.5)]
    timeline = play(holding(0, 5, wait=True), holding(1, 3), faults=faults)
    assert "WAIT says 1" in notes(timeline)
    assert granted(timeline) == [("A", 0), ("B", 1)]
    assert next((e.node, e.name) for e in timeline.find("expire")) == ("r1", "stock")


# -- a minority primary -------------------------------------------------------------------------------------------


def test_renewals_of_an_isolated_holder_succeed_at_the_old_primary() -> None:
    """s7′: no error reaches it while another holds the lock of the promoted one."""
    faults = [Replica("r1", lag=1.0), Failover(at=0.5, dies=False, isolated=("A",))]
    timeline = play(holding(0, 25, renew=3), holding(0.6, 20), faults=faults)
    assert {op.outcome for op in timeline.ops("extend")} == {"ok"}
    assert granted(timeline) == [("A", 0), ("B", 0)]
    assert [(e.node, e.data["to"]) for e in timeline.find("drop")] == [("redis", "r1")]  # it follows no longer
    (b,) = timeline.belief("stock")[1:]
    assert b.start == pytest.approx(0.602, abs=0.001)
    assert exclusive_grants.check(timeline).holds is False


def test_clients_that_hear_of_it_let_go_of_the_old_primary() -> None:
    def code(me: Any) -> None:
        client = me.redis(retry=ONCE)
        for second in (0, 1):
            sleep_until(second)
            client.set("a", me.name)

    timeline = play(code, code, faults=[R1, Failover(at=0.5, dies=False, isolated=("B",))])
    where = {(int(e.t), e.name, e.node) for e in timeline.find("apply")}
    assert where == {(0, "SET a A", "redis"), (0, "SET a B", "redis"), (1, "SET a A", "r1"), (1, "SET a B", "redis")}


def test_a_client_that_cannot_reach_the_old_primary_finds_the_new_one_after_its_timeout() -> None:
    def code(me: Any) -> list[str]:
        client, told = me.redis(retry=ONCE, socket_timeout=1), list[str]()
        for second in (0, 1, 3):
            sleep_until(second)
            try:
                told.append(str(client.set("a", second)))
            except redis.TimeoutError:
                told.append("timeout")
        return told

    found: list[list[str]] = []
    faults = [R1, Partition("A", "redis", at=0.4), Failover(at=0.5, dies=False)]
    play(lambda me: found.append(code(me)), faults=faults)
    assert found == [["True", "timeout", "True"]]


def counting(me: Any, times: int) -> list[int]:
    client = me.redis(retry=ONCE)
    return [int(client.incr("fence")) for _ in range(times)]


@pytest.mark.parametrize(("more", "tokens"), [(1, ([7], 7)), (3, ([7, 8, 9], 7))])
def test_the_counter_repeats_and_lags_after_a_failover(more: int, tokens: tuple[list[int], int]) -> None:
    """E22: 6 were passed on; the isolated old primary counts on, the promoted one counts the same numbers again."""
    seen: dict[str, list[int]] = {}

    def isolated(me: Any) -> None:
        counting(me, 6)
        sleep_until(1)
        seen["A"] = counting(me, more)

    def other(me: Any) -> None:
        sleep_until(2)
        seen["B"] = counting(me, 1)

    play(isolated, other, faults=[R1, Failover(at=0.5, dies=False, isolated=("A",))])
    assert (seen["A"], seen["B"][0]) == tokens


def test_a_zombie_with_the_higher_token_loses_the_update_of_the_legitimate_holder() -> None:
    """s4″: A has 9 from the old primary, B has 7 from the promoted one; a store that asks for «not lower» takes both
    writes, for B's comes first."""
    accepted = 0

    def worker(start: float, write: float, skip: int) -> Any:
        def code(me: Any) -> None:
            nonlocal accepted
            sleep_until(start)
            client = me.redis(retry=ONCE)
            counting(me, skip)
            lock = me.lock(SafeLock(client, "stock", ttl=TTL))
            lock.acquire(0)
            token = counting(me, 1)[0]
            store = me.store(Register(me.redis("store"), "x"))
            value = store.read()
            sleep_until(write)
            if token >= accepted:
                accepted = token
                store.write(value + 1)

        return code

    def six(me: Any) -> None:
        counting(me, 6)

    faults = [R1, Failover(at=0.5, dies=False, isolated=("A",))]
    timeline = play(worker(1, 4, 2), worker(1.5, 3, 0), six, faults=faults, servers=("redis", "store"), until=50)
    writes = [(op.node, op.args["value"], op.outcome) for op in timeline.ops("write")]
    assert writes == [("B", 1, "ok"), ("A", 1, "ok")]
    assert no_lost_update.check(timeline).holds is False


def test_min_replicas_bounds_what_a_minority_primary_accepts() -> None:
    faults = [
        Replica("r1", lag=1.0, needed=1, max_lag=4.0),
        Replica("r2", lag=1.0),
        Failover(at=0.5, dies=False, isolated=("A",)),
    ]
    with pytest.raises(Exception, match="NOREPLICAS") as caught:
        play(holding(0, 25, renew=3), holding(0.6, 20), faults=faults)
    refused = caught.value.timeline.find("fail")  # type: ignore[attr-defined]
    assert [(e.node, int(e.t)) for e in refused] == [("A", 6)]


def test_whoever_is_promoted_needs_as_many_replicas() -> None:
    def code(me: Any) -> None:
        sleep_until(1)
        with pytest.raises(redis.ResponseError, match="NOREPLICAS"):
            me.redis(retry=ONCE).set("a", 1)

    play(code, faults=[Replica("r1", needed=1), Failover(at=0.5)])


# -- afterwards ---------------------------------------------------------------------------------------------------


def test_the_old_primary_comes_back_as_a_replica_without_what_only_it_had() -> None:
    def isolated(me: Any) -> list[Any]:
        client = me.redis(retry=ONCE)
        client.set("a", "old")
        sleep_until(1)
        client.set("a", "lost")
        sleep_until(9)
        return [client.get("a"), me.redis("r1").get("a")]

    found: list[Any] = []
    faults = [R1, Failover(at=0.5, dies=False, isolated=("A",), back=3)]
    timeline = play(lambda me: found.append(isolated(me)), faults=faults)
    assert found == [[b"old", b"old"]]
    assert timeline.find("apply")[-1].node == "r1"
    assert [(h.value, h.end) for h in timeline.truth("a") if h.server == "redis"][1] == ("lost", 3.6)


def test_a_dead_primary_that_comes_back_copies_the_new_one_and_takes_no_writes() -> None:
    def code(me: Any) -> list[str]:
        me.redis(retry=ONCE).set("a", 1)
        sleep_until(2)
        me.redis(retry=ONCE).set("a", 2)
        sleep_until(5)
        return [me.redis(retry=ONCE).set("a", 3)]

    timeline = play(code, faults=[R1, Failover(at=1, back=2)])
    assert [(h.value, h.start) for h in timeline.truth("a") if h.server == "redis"] == [("1", 0.0005), ("2", 3.1)]
    assert [e.node for e in timeline.find("apply")] == ["redis", "r1", "r1"]
    assert [(e.node, e.t) for e in timeline.find("restart")] == [("redis", 3)]
    assert timeline.find("restart")[0].data["keys"] == {}  # they went with the crash


def test_the_other_replicas_follow_the_promoted_one() -> None:
    def code(me: Any) -> None:
        client = me.redis(retry=ONCE)
        client.set("a", 1)
        sleep_until(1)
        client.set("b", 2)
        time.sleep(1)

    timeline = play(code, faults=[R1, Replica("r2", lag=0.6), Failover(at=0.3)])
    assert [(h.key, round(h.start, 4)) for h in timeline.truth() if h.server == "r2"] == [("a", 0.9), ("b", 1.6005)]


def test_a_second_failover_leads_on() -> None:
    def code(me: Any) -> None:
        client = me.redis(retry=ONCE)
        for second in (0, 2, 4):
            sleep_until(second)
            client.set("a", second)

    faults = [R1, Replica("r2"), Failover(at=1), Failover("r1", "r2", at=3)]
    assert [e.node for e in play(code, faults=faults).find("apply")] == ["redis", "r1", "r2"]


def test_a_replica_that_stands_still_may_be_promoted_and_serves_when_it_wakes() -> None:
    timeline = play(holding(2, 6), faults=[R1, Pause("r1", at=1, lasting=2), Failover(at=1.5)])
    assert timeline.belief("stock")[0].start == pytest.approx(3.0, abs=0.01)


def test_a_replica_that_is_down_is_not_promoted() -> None:
    timeline = play(lambda me: time.sleep(5), faults=[R1, Restart("r1", at=0.5, down=3), Failover(at=1)])
    assert timeline.find("promote") == ()


def test_a_failover_is_checked() -> None:
    with pytest.raises(ValueError, match="to='redis' is the primary itself"):
        Failover(to="redis")
    with pytest.raises(ValueError, match=r"takes=-1: a number of seconds from 0 on"):
        Failover(takes=-1)
    with World() as world:
        world.server("redis")
        with pytest.raises(ValueError, match=r"redis is no replica: make it one with world.replica\('redis'\)"):
            world.promote("redis")
        world.replica("r1")
        with pytest.raises(ValueError, match="No node is called 'Z'"):
            world.promote("r1", isolated=("Z",))


def test_a_failover_is_the_same_twice_and_replays_from_its_tape() -> None:
    faults = [R1, Replica("r2", lag=0.3), Failover(at=0.2, takes=0.3, dies=False, isolated=("A",), back=4)]

    def run(**world: Any) -> tuple[Timeline, str]:
        with World(**world) as stage:
            stage.server("redis")
            stage.client("A").start(holding(0, 6, renew=1))
            stage.client("B").start(holding(1, 3))
            for fault in faults:
                stage.arm(fault)
            return stage.run(until=60), stage.choices.tape

    for seed in range(4):
        first, tape = run(seed=seed)
        assert first == run(seed=seed)[0]
        assert run(seed=seed, tape=tape)[0].events == first.events


def test_the_picture_of_a_failover_has_a_lane_for_each_server_and_an_arrow_between_them() -> None:
    timeline = play(holding(0, 5), holding(1, 3), faults=[R1, Failover(at=0.5)])
    picture = layout(timeline)
    assert {"redis", "r1", "promoted to primary", "down"} <= {label.text for label in picture.labels}
    (arrow,) = [arrow for arrow in picture.arrows if arrow.color == GREY]  # what no client sends
    assert arrow.y0 < arrow.y1
