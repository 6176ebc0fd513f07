"""Drop, delay, duplicate: what may become of one command on its way, and of all that its connection sends behind it."""

from __future__ import annotations

import time
from typing import Any

import pytest
import redis

from labkit.faults import Delay, DropReply, DropRequest, Duplicate
from labkit.faults.when import At
from labkit.sim import Fate, World
from tests.sim.playing import ONCE, commands, play, result


def two_sets(me: Any) -> list[str]:
    """Sends two commands, each once; what became of them."""
    client, outcome = me.redis(socket_timeout=1, retry=ONCE), list[str]()
    for key in "ab":
        try:
            outcome.append(str(client.set(key, 1)))
        except redis.TimeoutError:
            outcome.append("timeout")
    return outcome


def played(code: Any, *faults: Any, **options: Any) -> tuple[Any, Any]:
    found: list[Any] = []
    timeline = play(lambda me: found.append(code(me)), faults=faults, **options)
    return found[0], timeline


def test_a_lost_request_is_never_executed() -> None:
    outcome, timeline = played(two_sets, DropRequest(on="SET"))
    assert outcome == ["timeout", "True"]
    assert commands(timeline) == ["SET b 1"]
    assert [(e.node, e.data["direction"]) for e in timeline.find("drop")] == [("A", "request")]


def test_a_lost_reply_was_executed() -> None:
    outcome, timeline = played(two_sets, DropReply(on="SET"))
    assert outcome == ["timeout", "True"]
    assert commands(timeline) == ["SET a 1", "SET b 1"]
    assert [(e.node, e.data["direction"]) for e in timeline.find("drop")] == [("redis", "reply")]


def test_the_nth_is_meant() -> None:
    assert played(two_sets, DropReply(on="SET", nth=2))[0] == ["True", "timeout"]
    assert played(two_sets, DropRequest(on="SET", nth=2))[0] == ["True", "timeout"]


def test_without_a_name_any_command_is_counted() -> None:
    def code(me: Any) -> list[str]:
        client = me.redis(socket_timeout=1, retry=ONCE)
        client.get("x")
        with pytest.raises(redis.TimeoutError):
            client.set("a", 1)
        return [str(client.get("x")), str(client.set("b", 1)), str(client.incr("n"))]

    outcome, timeline = played(code, DropReply(nth=2))
    assert outcome == ["None", "True", "1"]
    assert len(timeline.find("drop")) == 1


def test_a_lost_reply_is_that_of_one_server() -> None:
    def code(me: Any) -> list[Any]:
        one, other = (me.redis(name, socket_timeout=1, retry=ONCE) for name in ("one", "other"))
        with pytest.raises(redis.TimeoutError):
            one.set("a", 1)
        return [other.set("a", 1)]

    outcome, timeline = played(code, DropReply(on="SET"), servers=("one", "other"))
    assert outcome == [True]
    assert [e.node for e in timeline.find("drop")] == ["one"]


def test_commands_are_counted_for_each_client() -> None:
    codes = [lambda me: me.redis(socket_timeout=1, retry=ONCE).set("a", 1)] * 2
    with pytest.raises(RuntimeError, match="Timeout"):
        play(*codes, faults=[DropReply(on="SET")])
    timeline = play(*codes, faults=[DropReply(on="SET", nth=2)])
    assert timeline.find("drop") == ()


def test_a_client_and_a_server_can_be_named() -> None:
    codes = [lambda me: me.redis().set("a", 1)] * 2
    timeline = play(*codes, faults=[Delay(on="SET", client="B", by=3), Delay(on="SET", server="other", by=9)])
    assert {e.node: e.t for e in timeline.find("deliver") if e.node != "redis"} == {"A": 0.001, "B": 3.001}


def test_a_silent_direction_stays_silent_until_the_connection_is_closed() -> None:
    def code(me: Any) -> Any:
        client = me.redis(socket_timeout=1, retry=ONCE)
        connection = client.connection_pool.get_connection()
        for key in "ab":
            connection.send_command("SET", key, 1)
        with pytest.raises(redis.TimeoutError):
            connection.read_response()
        client.connection_pool.release(connection)
        return client.get("a")

    outcome, timeline = played(code, DropRequest(on="SET", nth=1))
    assert outcome is None
    assert commands(timeline) == ["GET a"]


def test_a_delay_holds_all_behind_it_on_its_connection() -> None:
    def code(me: Any) -> list[float]:
        client = me.redis(socket_timeout=None)
        connection = client.connection_pool.get_connection()
        connection.send_command("SET", "a", 1)
        connection.send_command("SET", "b", 2)
        client.set("c", 3)
        other = me.world.now
        replies = [connection.read_response(), connection.read_response()]
        assert replies == [b"OK", b"OK"]
        return [round(other, 3), round(me.world.now, 3)]

    outcome, timeline = played(code, Delay(on="SET", by=4))
    assert outcome == [0.001, 4.001]
    assert commands(timeline) == ["SET c 3", "SET a 1", "SET b 2"]


def test_a_delayed_request_arrives_although_its_client_gave_up() -> None:
    def code(me: Any) -> None:
        with pytest.raises(redis.TimeoutError):
            me.redis(socket_timeout=1, retry=ONCE).set("a", 1)
        time.sleep(9)

    timeline = played(code, Delay(on="SET", by=5))[1]
    assert [(round(e.t, 4), e.name) for e in timeline.find("apply")] == [(5.0005, "SET a 1")]


def test_a_duplicate_is_executed_twice_and_answered_once() -> None:
    def code(me: Any) -> list[Any]:
        client = me.redis()
        first = client.incr("n")
        time.sleep(3)
        return [first, client.get("n")]

    outcome, timeline = played(code, Duplicate(on="INCRBY", after=2))
    assert outcome == [1, b"2"]
    assert [round(e.t, 4) for e in timeline.find("apply", name="INCRBY n 1")] == [0.0005, 2.0005]


def test_delay_and_drop_of_one_command_go_together() -> None:
    def code(me: Any) -> float:
        with pytest.raises(redis.TimeoutError):
            me.redis(socket_timeout=8, retry=ONCE).set("a", 1)
        return me.world.now

    outcome, timeline = played(code, Delay(on="SET", by=3), DropReply(on="SET"))
    assert outcome == 8
    assert [round(e.t, 4) for e in timeline.find("apply")] == [3.0005]


def test_a_reply_lost_in_a_pipeline_loses_those_behind_it() -> None:
    def code(me: Any) -> None:
        with pytest.raises(redis.TimeoutError):
            me.redis(socket_timeout=1, retry=ONCE).pipeline(transaction=False).set("a", 1).get("a").execute()

    timeline = played(code, DropReply(on="SET"))[1]
    assert commands(timeline) == ["SET a 1", "GET a"]
    assert commands(timeline, "drop") == ["SET a 1", "GET a"]


def test_a_rule_of_ones_own_is_a_fault_too() -> None:
    class LoseEveryOther:
        def arm(self, world: World) -> None:
            world.rule(lambda p: Fate(lost=True) if p.direction == "request" and p.nth % 2 == 1 else None)

    assert played(two_sets, LoseEveryOther())[0] == ["timeout", "True"]


def test_commands_are_counted_from_one() -> None:
    with pytest.raises(ValueError, match="nth=0: commands are counted from 1"):
        At(nth=0)


def test_a_fault_is_a_value() -> None:
    assert Delay(on="SET", by=2) == Delay(on="SET", by=2) != Delay(on="SET", by=3)
    assert result(lambda me: me.redis().ping(), faults=[Delay(by=2)]) is True
