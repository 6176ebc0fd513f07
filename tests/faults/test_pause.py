"""Pause: nothing of a node runs, time goes on, what arrives meanwhile waits."""

from __future__ import annotations

import time
from typing import Any

import pytest

from labkit.faults import Crash, Pause
from tests.sim.playing import ONCE, commands, notes, play, result


def at(me: Any) -> float:
    return round(me.world.now, 4)


def test_a_paused_client_wakes_up_late() -> None:
    assert result(lambda me: (time.sleep(2), at(me))[1], faults=[Pause("A", at=1, lasting=35)]) == 36


def test_a_pause_shorter_than_a_sleep_is_not_noticed() -> None:
    assert result(lambda me: (time.sleep(9), at(me))[1], faults=[Pause("A", at=1, lasting=5)]) == 9


def test_only_the_named_node_stands_still() -> None:
    timeline = play(*[lambda me: (time.sleep(2), me.note("up"))] * 2, faults=[Pause("A", at=1, lasting=5)])
    assert [(e.node, e.t) for e in timeline.find("note")] == [("B", 2), ("A", 6)]


def test_a_pause_can_strike_just_before_a_command() -> None:
    def code(me: Any) -> None:
        client = me.redis()
        client.get("x")
        client.set("a", 1)
        client.set("b", 2)

    timeline = play(code, faults=[Pause("A", lasting=5, on="set", nth=2)])
    sent = {e.name: e.t for e in timeline.find("send")}
    assert sent["SET a 1"] < 0.1
    assert sent["SET b 2"] > 5
    assert [e.kind for e in timeline.find(name="A")] == ["pause", "wake"]


def test_a_reply_that_came_during_the_pause_is_read_after_it_although_the_timeout_is_over() -> None:
    def code(me: Any) -> tuple[Any, float]:
        client = me.redis(socket_timeout=1, retry=ONCE)
        return client.get("a"), at(me)

    assert result(code, faults=[Pause("A", at=0.0001, lasting=9)]) == (None, 9.0001)


def test_a_paused_server_answers_when_it_wakes_up() -> None:
    def code(me: Any) -> float:
        client = me.redis(socket_timeout=None)
        assert client.set("a", 1)
        return at(me)

    timeline_ends: list[float] = []
    timeline = play(lambda me: timeline_ends.append(code(me)), faults=[Pause("redis", at=0, lasting=4)])
    assert timeline_ends == [4.0005]
    assert [e.t for e in timeline.find("apply")] == [4.0]


def test_a_paused_server_executes_what_an_impatient_client_sent() -> None:
    def code(me: Any) -> None:
        with pytest.raises(Exception, match="Timeout"):
            me.redis(socket_timeout=1, retry=ONCE).set("a", 1)
        time.sleep(9)

    assert commands(play(code, faults=[Pause("redis", at=0, lasting=4)])) == ["SET a 1"]


def test_overlapping_pauses_end_with_the_last() -> None:
    faults = [Pause("A", at=1, lasting=5), Pause("A", at=2, lasting=10), Pause("A", at=3, lasting=1)]
    timeline = play(lambda me: (time.sleep(1.5), me.note("up")), faults=faults)
    assert [e.t for e in timeline.find("note")] == [12]
    assert [e.t for e in timeline.find("wake")] == [12]


def test_a_client_that_crashes_while_it_stands_still_does_not_wake() -> None:
    timeline = play(lambda me: time.sleep(2), faults=[Pause("A", at=1, lasting=5), Crash("A", at=3)])
    assert timeline.find("wake") == ()
    assert notes(timeline) == []


def test_a_pause_of_an_unknown_node_is_an_error() -> None:
    with pytest.raises(ValueError, match="No node is called 'C'"):
        play(lambda me: time.sleep(9), faults=[Pause("C", at=1, lasting=5)])
