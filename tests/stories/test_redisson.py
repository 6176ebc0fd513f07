"""What is left of a lock whose renewal is sent as Redisson sends it, and of locks that share one renewal task."""

from __future__ import annotations

from typing import Any

import pytest
from redis.exceptions import TimeoutError

from labkit.checks import judge
from labkit.sim import World
from labkit.stories import play
from labkit.stories.redisson import HABITS, BlackHole, plain_client
from labkit.stories.shards import expired
from labkit.timeline import Timeline

KEEPS = (11, 16, 25)  # seeds below 30 with which the fifth send of 4.x leaves when Redis is back
ROUTE = 0.05  # seconds: what a wandering seed's latencies may add up to until the grant


def sends(timeline: Timeline) -> list[float]:
    """When A sent a renewal of its one lock."""
    return [e.t for e in timeline.find("send", "A") if e.name.startswith("EVALSHA extend")]


def kept(timeline: Timeline) -> bool:
    return not timeline.find("expire", name="stock")


# -- black-hole: one lock, one server -----------------------------------------------------------------------------


def test_up_to_3_43_a_renewal_is_four_sends_in_sixteen_and_a_half_seconds() -> None:
    assert HABITS["3.43"].budget() == (16.5, 16.5)


def test_from_4_on_it_is_five_sends_in_eighteen_and_a_half_to_twenty_two_seconds() -> None:
    assert HABITS["4"].budget() == (18.5, 22.0)


def test_3_43_sends_at_10_and_each_four_and_a_half_seconds_later_and_gives_up_at_26_and_a_half() -> None:
    """The grant is two round trips late: 2 ms."""
    timeline = play("black-hole")
    assert sends(timeline) == pytest.approx([10.002, 14.502, 19.002, 23.502], abs=1e-6)
    assert [op.ret for op in timeline.ops("extend")][-1] == pytest.approx(26.502, abs=1e-6)


def test_3_43_loses_the_lock_at_30_although_redis_is_back_at_28() -> None:
    timeline = play("black-hole")
    assert {e.t for e in timeline.find("heal")} == {28.0}
    assert [e.t for e in timeline.find("expire", name="stock")] == pytest.approx([30.0015], abs=1e-5)


def test_each_send_into_the_hole_is_lost_and_none_is_refused() -> None:
    timeline = play("black-hole")
    assert len(timeline.find("drop")) == 4
    assert {op.outcome for op in timeline.ops("extend")} == {"unknown"}


@pytest.mark.parametrize("seed", range(30))
def test_the_fifth_send_of_4_leaves_between_25_and_a_half_and_29_seconds(seed: int) -> None:
    assert 25.5 <= sends(play("black-hole", generation="4", seed=seed))[4] <= 29 + ROUTE


@pytest.mark.parametrize("seed", range(30))
def test_4_keeps_the_lock_exactly_if_its_fifth_send_leaves_when_redis_is_back(seed: int) -> None:
    timeline = play("black-hole", generation="4", seed=seed)
    assert kept(timeline) == (sends(timeline)[4] >= 28) == (seed in KEEPS)


def test_4_asks_again_after_a_renewal_that_has_failed_and_3_43_never_does() -> None:
    """Ten seconds after the fifth send's time-out it finds the lock lost, and stops."""
    timeline = play("black-hole", generation="4", work=80)
    *_, fifth, last = sends(timeline)
    assert len(sends(timeline)) == 6
    assert last - fifth == pytest.approx(13.0)
    assert len(sends(play("black-hole", generation="3.43", work=80))) == 4


@pytest.mark.parametrize("generation", HABITS)
def test_a_is_not_told_and_writes_on_beside_b(generation: str) -> None:
    timeline = play("black-hole", generation=generation)
    a, b = timeline.belief("stock")
    assert (timeline.find("lost"), a.why, a.start < b.start < b.end < a.end) == ((), "released", True)
    verdicts = judge(timeline, "one_believer", "no_stale_write", "no_lost_update", "told").verdicts
    assert [verdict.holds for verdict in verdicts] == [False] * 4


def test_where_the_lock_is_kept_b_waits_for_its_turn() -> None:
    verdicts = judge(play("black-hole", generation="4", seed=KEEPS[0]), "one_believer", "no_lost_update").verdicts
    assert [verdict.holds for verdict in verdicts] == [True, True]


@pytest.mark.parametrize(("end", "holds"), [(23.4, True), (23.6, False)])
def test_3_43_keeps_the_lock_if_redis_is_back_before_its_fourth_send(end: float, holds: bool) -> None:
    assert kept(play("black-hole", end=end)) == holds


def test_3_43_keeps_the_lock_if_the_first_renewal_has_come_through() -> None:
    """Then its third send leaves at 29 s, and the lease lasts until 40."""
    timeline = play("black-hole", start=11)
    assert kept(timeline)
    assert sends(timeline)[:4] == pytest.approx([10.002, 20.003, 24.503, 29.003], abs=1e-6)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("end", "holds"), [(25.5, True), (29.5, False)])
def test_outside_its_bounds_the_jitter_of_4_does_not_matter(end: float, holds: bool, seed: int) -> None:
    assert kept(play("black-hole", generation="4", end=end, seed=seed)) == holds


def test_a_lock_that_renews_itself_is_not_renewed_twice() -> None:
    runs = [play("black-hole", lock="watchdog", generation=generation) for generation in HABITS]
    assert runs[0].events == runs[1].events
    assert judge(runs[0], "told").holds is True


def test_a_reply_that_enters_the_hole_is_lost_and_its_request_was_executed() -> None:
    def work(me: Any) -> None:
        with pytest.raises(TimeoutError):
            plain_client(me).set("key", "1")

    with World() as world:
        world.server("redis")
        world.client("A").start(work)
        world.arm(BlackHole(("A",), "redis", 0.0004, 2.0))
        timeline = world.run()
    assert [hold.value for hold in timeline.truth("key")] == ["1"]
    assert [e.data["direction"] for e in timeline.find("drop")] == ["reply"]


def test_who_is_not_in_the_hole_does_not_feel_it() -> None:
    with World() as world:
        world.server("redis")
        world.client("B").start(lambda me: plain_client(me).set("key", "1"))
        world.arm(BlackHole(("A",), "redis", 0.0, 2.0))
        assert world.run().find("drop") == ()


# -- shard-down: many locks, three servers ------------------------------------------------------------------------


def lost(**params: Any) -> tuple[int, ...]:
    """How many of two locks each have run out on the shards a, b, c."""
    return tuple(expired(play("shard-down", **params)).values())


@pytest.mark.parametrize(("dead", "locks"), [("a", (2, 2, 2)), ("b", (0, 2, 2)), ("c", (0, 0, 2))])
def test_one_task_loses_the_dead_shards_locks_and_those_of_every_shard_behind_it(
    dead: str, locks: tuple[int, ...]
) -> None:
    assert lost(dead=dead) == locks


@pytest.mark.parametrize(("dead", "locks"), [("a", (2, 0, 0)), ("b", (0, 2, 0)), ("c", (0, 0, 2))])
@pytest.mark.parametrize("retries", HABITS)
def test_a_task_a_shard_loses_the_dead_shards_alone(dead: str, locks: tuple[int, ...], retries: str) -> None:
    assert lost(dead=dead, renewal="task-a-shard", retries=retries) == locks


def rounds(timeline: Timeline, server: str) -> list[float]:
    return [e.t for e in timeline.find("send", "A") if e.data["to"] == server and e.name.startswith("EVAL renew")]


def test_a_dead_last_shard_delays_the_next_round_by_what_it_costs_to_ask_it() -> None:
    first, second = rounds(play("shard-down", dead="c"), "shard-a")
    assert [first, second] == pytest.approx([10.0, 10.0 + 16.5 + 10.0], abs=0.003)


@pytest.mark.parametrize("seed", range(16))
def test_with_the_retries_of_4_it_costs_more_than_a_lease_may_bear(seed: int) -> None:
    """Two rounds are then 28.5 to 32 s apart, so shards that work lose theirs too, as the pauses are drawn."""
    timeline = play("shard-down", dead="c", retries="4", seed=seed)
    first, second = rounds(timeline, "shard-a")[:2]
    assert 28.5 <= second - first <= 32 + 4 * ROUTE
    in_time = second < min(hold.end for hold in timeline.truth("a1") if hold.start > 1)
    assert tuple(expired(timeline).values()) == ((0, 0, 2) if in_time else (2, 2, 2))


def test_which_of_the_two_it_is_depends_on_the_seed() -> None:
    assert {lost(dead="c", retries="4", seed=seed) for seed in range(8)} == {(0, 0, 2), (2, 2, 2)}


def test_the_lock_of_a_healthy_shard_is_somebody_elses_while_a_believes_in_it() -> None:
    assert judge(play("shard-down"), "one_believer").holds is False
    assert judge(play("shard-down", renewal="task-a-shard"), "one_believer").holds is True


@pytest.mark.parametrize(("lasting", "locks"), [(18, (0, 0, 0)), (19, (0, 2, 2))])
def test_a_shard_that_is_back_for_the_last_send_of_the_first_round_costs_nothing(
    lasting: int, locks: tuple[int, ...]
) -> None:
    """It goes down at 5 s, and the fourth send leaves at 23.5."""
    assert lost(lasting=lasting) == locks


@pytest.mark.parametrize(("chunk", "commands"), [(3, 4), (5, 2), (10, 1)])
def test_a_round_is_one_command_a_batch_and_its_size_saves_nobody(chunk: int, commands: int) -> None:
    timeline = play("shard-down", locks=30, chunk=chunk)
    assert sum(t < 12 for t in rounds(timeline, "shard-a")) == commands
    assert tuple(expired(timeline).values()) == (0, 10, 10)


def test_a_lock_that_is_lost_is_dropped_from_the_rounds_and_its_owner_not_told() -> None:
    """Shard b is back at 37 s: at 41 it says that both are gone, and is not asked again."""
    timeline = play("shard-down", lasting=32, work=75)
    assert [round(t, 1) for t in rounds(timeline, "shard-b")] == [10.0, 14.5, 19.0, 23.5, 36.5, 41.0]
    assert timeline.find("lost") == ()
    assert [b.why for b in timeline.belief("b1")] == ["released"]


def test_a_renewal_counts_for_each_lock_of_its_batch() -> None:
    """A believes with reason: what the server prolongs, its lease knows of."""
    timeline = play("shard-down", dead="c")
    assert [b.valid for b in timeline.belief("a2")] == [((b.start, b.end),) for b in timeline.belief("a2")]


@pytest.mark.parametrize("lock", ["reentrant", "safe"])
def test_locks_of_both_kinds_of_value_are_renewed_in_batches(lock: str) -> None:
    assert lost(lock=lock, dead="c") == (0, 0, 2)


def test_locks_that_renew_themselves_depend_on_nobody() -> None:
    timeline = play("shard-down", lock="watchdog", dead="a")
    assert rounds(timeline, "shard-b") == []
    assert tuple(expired(timeline).values()) == (2, 0, 0)


def test_what_is_given_back_has_not_expired() -> None:
    assert lost(start=60, work=20) == (0, 0, 0)


def test_a_key_that_is_no_lock_is_not_counted() -> None:
    """The receipt of A's release runs out after a minute."""
    timeline = play("black-hole", work=0, end=60)
    assert [e.name.split(":")[1] for e in timeline.find("expire")] == ["released"]
    assert expired(timeline) == {"redis": 0, "shop": 0}


def test_once_a_gives_back_nothing_is_renewed() -> None:
    """At 48 s it does, and waits three seconds for shard b; the next round would be due at 50."""
    timeline = play("shard-down", renewal="task-a-shard", work=48)
    assert timeline.end > 50
    assert max(rounds(timeline, "shard-a")) == pytest.approx(40.0, abs=0.01)


def test_thirty_locks_make_no_long_timeline() -> None:
    assert len(play("shard-down", locks=30)) < 2000
