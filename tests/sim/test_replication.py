"""Replication: what reaches a replica and when, what a replica refuses, WAIT, min-replicas, and links that break."""

from __future__ import annotations

import time
from typing import Any

import pytest
import redis

from labkit.faults import ClockStep, Evict, Flush, Partition, Pause, Replica, Restart
from labkit.sim import World
from labkit.timeline import Timeline
from tests.sim.playing import ONCE, at, notes, play

R1 = Replica("r1", lag=0.1)


def told(call: Any) -> str:
    """What a call answers, or how it fails."""
    try:
        return str(call())
    except redis.RedisError as error:
        return f"{type(error).__name__}: {error}"


def played(code: Any, *faults: Any, **options: Any) -> tuple[Any, Timeline]:
    found: list[Any] = []
    timeline = play(lambda me: found.append(code(me)), faults=faults, **options)
    return found[0], timeline


def sending(*lines: Any, stay: float = 1.0) -> Any:
    """A client that sends commands; a number among them is a sleep."""

    def code(me: Any) -> None:
        client = me.redis(retry=ONCE)
        for line in (*lines, stay):
            time.sleep(line) if isinstance(line, (int, float)) else client.execute_command(*line.split())

    return code


def holds(timeline: Timeline, server: str = "r1") -> list[tuple[str, float, str]]:
    """What a server said of its keys: value, from when, and how it ended."""
    return [(h.value, round(h.start, 4), h.why) for h in timeline.truth() if h.server == server]


# -- the stream ---------------------------------------------------------------------------------------------------


def test_a_write_reaches_the_replica_after_the_lag() -> None:
    timeline = play(sending("SET a 1"), faults=[R1])
    assert holds(timeline) == [("1", 0.1005, "open")]


def test_what_reaches_a_replica_goes_back_to_what_the_primary_executed() -> None:
    timeline = play(sending("SET a 1"), faults=[R1])
    (arrived,) = timeline.find("deliver", "r1")
    sent = timeline.events[arrived.cause or 0]
    assert (sent.kind, sent.node, sent.data) == ("send", "redis", {"to": "r1"})
    assert timeline.events[sent.cause or 0].kind == "apply"


def test_the_writer_stays_the_owner_on_the_replica() -> None:
    timeline = play(sending("SET a 1 PX 9000"), faults=[R1])
    assert [(h.server, h.owner, h.until) for h in timeline.truth("a")] == [("redis", "A", 9.0005), ("r1", "A", 9.0005)]


def test_what_changes_nothing_is_not_sent() -> None:
    timeline = play(sending("SET a 1", "GET a", "SET a 2 NX", "DEL b"), faults=[R1])
    assert len(timeline.find("send", "redis")) == 1


@pytest.mark.parametrize(
    ("lines", "value"),
    [
        (["HSET k b 1", "HSET k a 2"], "{'a': '2', 'b': '1'}"),
        (["INCR k", "INCR k"], "2"),
        (["RPUSH k x", "RPUSH k y"], "['x', 'y']"),
        (["SADD k y", "SADD k x"], "['x', 'y']"),
    ],
)
def test_values_of_all_types_are_copied(lines: list[str], value: str) -> None:
    timeline = play(sending(*lines), faults=[R1])
    assert timeline.truth("k")[-1].server == "r1"
    assert timeline.truth("k")[-1].value == value


def test_a_copy_is_not_changed_by_what_the_primary_does_later() -> None:
    def code(me: Any) -> list[Any]:
        client = me.redis()
        client.hset("h", "a", 1)
        time.sleep(0.05)
        client.hset("h", "a", 2)  # while the first is under way
        time.sleep(0.06)
        return [me.redis(name).hget("h", "a") for name in ("r1", "redis")]

    assert played(code, R1)[0] == [b"1", b"2"]


def test_two_replicas_share_nothing() -> None:
    def code(me: Any) -> list[Any]:
        me.redis().hset("h", "a", 1)
        time.sleep(1)
        me.world.promote("r1")
        me.redis(retry=ONCE).hset("h", "a", 2)
        return [me.redis(name).hget("h", "a") for name in ("r2", "r1")]

    assert played(code, R1, Replica("r2"))[0] == [b"1", b"2"]


def test_changes_arrive_in_their_order_whatever_their_lags() -> None:
    with World(tape="lag.r1.1=2,lag.r1.2=1") as world:
        world.server("redis")
        world.replica("r1", lag=1.0)
        world.client("A").start(sending("SET a 1", "SET a 2", stay=9))
        timeline = world.run()
    assert holds(timeline) == [("1", 5.0005, "renewed"), ("2", 5.0005, "open")]


def wandering(code: Any, faults: list[Any], seed: int) -> tuple[Timeline, str]:
    """A run whose choices are drawn from a seed, and the tape of them."""
    with World(seed=seed) as world:
        world.server("redis")
        world.client("A").start(code)
        for fault in faults:
            world.arm(fault)
        return world.run(until=100), world.choices.tape


def test_a_lag_is_a_choice_that_a_tape_replays() -> None:
    code = sending("SET a 1", 3, "SET a 2", stay=9)
    timeline, tape = wandering(code, [R1], seed=3)
    assert "lag.r1" in tape
    assert play(code, faults=[R1], tape=tape).events == timeline.events


@pytest.mark.parametrize("line", ["DEL a", "EVAL return(redis.call('DEL',KEYS[1])) 1 a", "RENAME a b", "FLUSHALL"])
def test_a_key_that_goes_on_the_primary_goes_on_the_replica(line: str) -> None:
    timeline = play(sending("SET a 1", 1, line), faults=[R1])
    assert holds(timeline)[0] == ("1", 0.1005, "deleted")


def test_an_evicted_key_goes_on_the_replica() -> None:
    assert holds(play(sending("SET a 1", stay=3), faults=[R1, Evict("a", at=1)])) == [("1", 0.1005, "deleted")]


def test_an_operator_who_empties_the_primary_empties_the_replica() -> None:
    timeline = play(sending("SET a 1", "SET b 1", stay=3), faults=[R1, Flush(at=1)])
    assert [(h.server, h.end, h.why) for h in timeline.truth("b")] == [("redis", 1, "deleted"), ("r1", 1.1, "deleted")]
    assert notes(timeline) == ["An operator empties redis with FLUSHALL."]


def test_scripts_are_not_replicated() -> None:
    def code(me: Any) -> str:
        sha = me.redis().script_load("return 1")
        time.sleep(1)
        return told(lambda: me.redis("r1").evalsha(sha, 0))

    assert played(code, R1)[0].startswith("NoScriptError")


def test_keys_of_other_databases_are_replicated_to_theirs() -> None:
    def code(me: Any) -> list[Any]:
        me.redis(db=2).set("a", 1)
        time.sleep(1)
        return [me.redis("r1", db=db).get("a") for db in (0, 2)]

    assert played(code, R1)[0] == [None, b"1"]


# -- expiry -------------------------------------------------------------------------------------------------------


def test_a_key_expires_on_both_at_the_absolute_time() -> None:
    timeline = play(sending("SET a 1 PX 1000", stay=3), faults=[R1])
    assert [(h.server, round(h.end, 4), h.why) for h in timeline.truth("a")] == [
        ("redis", 1.0005, "expired"),
        ("r1", 1.0005, "expired"),
    ]
    assert len(timeline.find("deliver", "r1")) == 1  # the primary's own removal tells it nothing new


def test_a_replica_judges_the_expiry_by_its_own_clock() -> None:
    timeline = play(sending("SET a 1 PX 10000", stay=3), faults=[R1, ClockStep("r1", by=15)])
    assert [(h.server, h.why) for h in timeline.truth("a")] == [("redis", "open"), ("r1", "expired")]
    assert [(e.node, e.t) for e in timeline.find("expire")] == [("r1", 0.1005)]


def test_a_replica_whose_clock_is_late_drops_a_key_when_the_primary_does() -> None:
    timeline = play(sending("SET a 1 PX 1000", stay=3), faults=[R1, ClockStep("r1", by=-20)])
    assert [(h.server, round(h.end, 2), h.why) for h in timeline.truth("a")][1] == ("r1", 1.1, "deleted")


def test_a_renewal_is_replicated() -> None:
    timeline = play(sending("SET a 1 PX 1000", 0.5, "PEXPIRE a 5000", stay=2), faults=[R1])
    assert [(h.why, h.until) for h in timeline.truth("a") if h.server == "r1"] == [
        ("renewed", 1.0005),
        ("open", 5.5015),
    ]


# -- a replica is read-only ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("call", ["set", "eval", "pipeline"])
def test_a_replica_refuses_writes_however_they_come(call: str) -> None:
    def code(me: Any) -> tuple[str, Any]:
        client = me.redis("r1", retry=ONCE)
        calls = {
            "set": lambda: client.set("a", 1),
            "eval": lambda: client.eval("return redis.call('SET', KEYS[1], 1)", 1, "a"),
            "pipeline": lambda: client.pipeline().set("a", 1).execute(),
        }
        return told(calls[call]), client.get("a")

    answer, value = played(code, R1)[0]
    assert "can't write against a read only replica" in answer
    assert value is None


def test_a_replica_answers_reads_and_scripts_that_read() -> None:
    def code(me: Any) -> list[Any]:
        me.redis().set("a", 1)
        time.sleep(1)
        client = me.redis("r1")
        return [client.get("a"), client.eval("return redis.call('GET', KEYS[1])", 1, "a")]

    assert played(code, R1)[0] == [b"1", b"1"]


def test_a_pair_is_checked() -> None:
    with World() as world:
        world.replica("r1")
        with pytest.raises(ValueError, match="r1 is itself a replica; r2 can follow redis"):
            world.replica("r2", of="r1")
        with pytest.raises(ValueError, match="r1 has a part in a replication already"):
            world.replica("r1")
        with pytest.raises(ValueError, match="redis has a part"):
            world.replica("redis")
        with pytest.raises(ValueError, match="lag=-1: a replica is a number of seconds behind"):
            world.replica("r2", lag=-1)


# -- WAIT ---------------------------------------------------------------------------------------------------------


def waited(me: Any, *arguments: int, write: bool = True) -> tuple[int, float]:
    client = me.redis(socket_timeout=None)  # its pool gives out the same connection each time
    if write:
        client.incr("a")
    return client.wait(*arguments), at()


def test_wait_returns_when_enough_replicas_have_acknowledged() -> None:
    outcome, _ = played(lambda me: waited(me, 1, 5000), R1, Replica("r2", lag=2.0))
    assert outcome == (1, 0.1015)  # half a millisecond to the primary, the lag, half for the acknowledgement, and back


def test_wait_for_all_waits_for_the_slowest() -> None:
    assert played(lambda me: waited(me, 2, 5000), R1, Replica("r2", lag=2.0))[0] == (2, 2.0015)


def test_wait_gives_up_at_its_timeout_and_says_how_many() -> None:
    assert played(lambda me: waited(me, 2, 500), R1, Replica("r2", lag=2.0))[0] == (1, 0.502)


def test_wait_without_a_timeout_waits_as_long_as_it_takes() -> None:
    assert played(lambda me: waited(me, 1, 0), Replica("r1", lag=50.0))[0] == (1, 50.0015)


def test_wait_without_replicas_waits_for_its_timeout() -> None:
    assert played(lambda me: waited(me, 1, 700))[0] == (0, 0.702)


def test_wait_of_a_connection_that_wrote_nothing_returns_at_once() -> None:
    """Also where another connection's write has not been acknowledged: WAIT vouches for its own connection only."""

    def code(me: Any) -> tuple[int, float]:
        me.redis().set("b", 1)
        me.redis().get("b")
        return waited(me, 1, 5000, write=False)

    assert played(code, R1)[0] == (1, 0.003)


def test_wait_waits_for_the_latest_write_each_time() -> None:
    assert played(lambda me: [waited(me, 1, 5000) for _ in range(2)], R1)[0] == [(1, 0.1015), (1, 0.203)]


def test_wait_after_a_read_is_about_the_write_before_it() -> None:
    def code(me: Any) -> tuple[int, float]:
        client = me.redis()
        client.set("a", 1)
        time.sleep(1)
        me.redis().set("b", 1)
        client.get("a")
        return client.wait(1, 5000), at()

    assert played(code, R1)[0] == (1, 1.004)


def test_wait_does_not_count_a_replica_that_stands_still() -> None:
    assert played(lambda me: waited(me, 1, 1000), R1, Pause("r1", at=0.05, lasting=5))[0][0] == 0


def test_what_arrives_at_a_replica_that_stands_still_is_stored_when_it_wakes() -> None:
    timeline = play(sending("SET a 1", stay=9), faults=[R1, Pause("r1", at=0.05, lasting=5)])
    assert holds(timeline) == [("1", 5.05, "open")]


def test_a_client_that_gives_up_waiting_leaves_nothing_behind() -> None:
    def code(me: Any) -> tuple[str, tuple[int, float]]:
        client = me.redis(socket_timeout=0.2, retry=ONCE)
        client.set("a", 1)
        first = told(lambda: client.wait(1, 0))
        time.sleep(2)
        return first, waited(me, 1, 0)

    first, second = played(code, Replica("r1", lag=1.0))[0]
    assert first.startswith("TimeoutError")
    assert second[0] == 1


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (("WAIT", "x", "1"), "not an integer"),
        (("WAIT", "1", "-1"), "timeout is negative"),
        (("WAIT", "1"), "wrong number of arguments"),
    ],
)
def test_wait_checks_its_arguments(words: tuple[str, ...], answer: str) -> None:
    assert answer in played(lambda me: told(lambda: me.redis().execute_command(*words)), R1)[0]


def test_wait_is_not_for_replicas() -> None:
    assert "cannot be used with replica" in played(lambda me: told(lambda: me.redis("r1").wait(1, 1)), R1)[0]


# -- min-replicas-to-write ----------------------------------------------------------------------------------------

NEEDS_ONE = Replica("r1", lag=0.1, needed=1, max_lag=2.0)


def writing(me: Any) -> list[tuple[float, str]]:
    """A write each second."""
    client, answers = me.redis(retry=ONCE), list[tuple[float, str]]()
    for second in range(7):
        answers.append((second, told(lambda: client.set("a", 1)).split(":")[-1].strip()[:10]))
        time.sleep(second + 1 - at())
    return answers


def test_writes_are_refused_when_no_replica_was_heard_of_for_max_lag() -> None:
    answers, timeline = played(writing, NEEDS_ONE, Partition("redis", "r1", at=1.5, lasting=3))
    assert [second for second, answer in answers if answer == "NOREPLICAS"] == [4]
    assert timeline.find("apply")[4].data["keys"] == {}


def test_reads_are_answered_meanwhile() -> None:
    def code(me: Any) -> Any:
        me.redis().set("a", 1)
        time.sleep(5)
        return me.redis().get("a")

    assert played(code, NEEDS_ONE, Partition("redis", "r1", at=1))[0] == b"1"


@pytest.mark.parametrize("fault", [Pause("r1", at=1.5, lasting=3), Restart("r1", at=1.5, down=3)])
def test_a_replica_that_stands_still_or_is_down_is_not_heard_of(fault: Any) -> None:
    answers, _ = played(writing, NEEDS_ONE, fault)
    assert [second for second, answer in answers if answer == "NOREPLICAS"] == [4]


def test_more_replicas_than_there_are_refuse_every_write() -> None:
    answer, _ = played(lambda me: told(lambda: me.redis().set("a", 1)), Replica("r1", needed=2))
    assert answer == "ResponseError: NOREPLICAS Not enough good replicas to write."


# -- links and processes that break -------------------------------------------------------------------------------


def test_what_is_lost_over_a_cut_link_is_drawn_as_lost_and_made_good_by_a_full_copy() -> None:
    timeline = play(
        sending("SET a 1", 1, "SET a 2", "SET b 2", 4), faults=[R1, Partition("redis", "r1", at=0.5, lasting=2)]
    )
    assert [(e.node, e.name, e.data["to"]) for e in timeline.find("drop")] == [
        ("redis", "SET a 2", "r1"),
        ("redis", "SET b 2", "r1"),
    ]
    assert holds(timeline) == [("1", 0.1005, "renewed"), ("2", 2.6, "open"), ("2", 2.6, "open")]
    assert timeline.find("deliver", "r1")[-1].name == "FULLRESYNC"


def test_a_link_mended_before_anything_was_missed_needs_no_copy() -> None:
    timeline = play(sending("SET a 1", 4), faults=[R1, Partition("redis", "r1", at=1, lasting=2)])
    assert len(timeline.find("send", "redis")) == 1


def test_a_replica_that_was_down_gets_a_full_copy() -> None:
    timeline = play(sending("SET a 1", 1, "DEL a", "SET b 2", 4), faults=[R1, Restart("r1", at=0.5, down=2)])
    assert holds(timeline) == [("1", 0.1005, "restart"), ("2", 2.6, "open")]


def test_a_full_copy_removes_what_the_primary_has_not() -> None:
    timeline = play(
        sending("SET a 1", 1, "DEL a", "SET b 2", 4), faults=[R1, Restart("r1", at=0.5, down=2, keep_data=True)]
    )
    assert holds(timeline) == [("1", 0.1005, "deleted"), ("2", 2.6, "open")]


def test_what_was_under_way_when_the_primary_went_down_is_lost_however_soon_it_is_back() -> None:
    timeline = play(sending("SET a 1", stay=4), faults=[Replica("r1", lag=1.0), Restart(at=0.5)])
    assert [(e.t, e.name) for e in timeline.find("drop")] == [(1.0005, "SET a 1")]
    assert holds(timeline) == []


def test_a_primary_that_restarts_empty_empties_its_replicas() -> None:
    timeline = play(sending("SET a 1", stay=4), faults=[R1, Restart(at=1, keep_data=False)])
    assert [(h.server, h.end) for h in timeline.truth("a")] == [("redis", 1), ("r1", 1.1)]


def test_what_is_under_way_when_the_primary_restarts_comes_with_the_full_copy() -> None:
    timeline = play(sending("SET a 1", stay=4), faults=[R1, Restart(at=0.05, down=1, keep_data=True)])
    assert holds(timeline) == [("1", 1.15, "open")]
    assert len(timeline.find("drop")) == 1


# -- as always ----------------------------------------------------------------------------------------------------


def test_a_world_with_replicas_is_the_same_twice() -> None:
    faults = [R1, Replica("r2", lag=0.4), Partition("redis", "r1", at=0.5, lasting=1), Pause("r2", at=1, lasting=1)]
    code = sending("SET a 1 PX 900", 0.3, "HSET h a 1", 0.3, "INCR n", 2)
    for seed in range(5):
        (first, tape), (second, _) = (wandering(code, faults, seed) for _ in range(2))
        assert first == second
        assert play(code, faults=faults, tape=tape).events == first.events


def test_replicas_keep_no_run_from_ending() -> None:
    timeline = play(lambda me: me.redis().blpop("line"), faults=[R1], until=50)
    assert [e.data["deadlock"] for e in timeline.find("note")] == [False]  # redis-py waits with a time-out
    assert timeline.end <= 50


def test_the_first_command_of_a_promoted_replica_may_remove_what_was_copied() -> None:
    def code(me: Any) -> None:
        client = me.redis(retry=ONCE)
        client.set("a", 1)
        time.sleep(1)
        me.world.hub.outside(me.world.promote, "r1")
        client.close()
        client.delete("a")

    assert holds(play(code, faults=[R1])) == [("1", 0.1005, "deleted")]
