"""Crash: a client is gone from one moment to the next; what it had sent goes its way."""

from __future__ import annotations

import time
from typing import Any

import pytest

from labkit.faults import Crash
from labkit.sim import World
from tests.sim.playing import commands, notes, play


def test_a_crashed_client_does_nothing_more() -> None:
    def code(me: Any) -> None:
        time.sleep(1)
        me.note("alive")
        time.sleep(2)
        me.note("never")

    timeline = play(code, lambda me: time.sleep(9), faults=[Crash("A", at=2)])
    assert notes(timeline) == ["alive"]
    assert [(e.t, e.node) for e in timeline.find("crash")] == [(2, "A")]


def test_a_crash_can_strike_just_before_a_command() -> None:
    def code(me: Any) -> None:
        client = me.redis()
        client.set("a", 1)
        client.set("b", 2)

    timeline = play(code, lambda me: time.sleep(9), faults=[Crash("A", on="SET", nth=2)])
    assert commands(timeline, "send") == ["SET a 1"]


def test_a_request_in_flight_is_executed_although_its_client_has_crashed() -> None:
    timeline = play(lambda me: me.redis().set("a", 1), lambda me: time.sleep(9), faults=[Crash("A", at=0.0001)])
    assert commands(timeline) == ["SET a 1"]
    assert [e.node for e in timeline.find("deliver")] == ["redis"]


def test_its_threads_die_with_it() -> None:
    import threading

    def code(me: Any) -> None:
        threading.Thread(target=lambda: (time.sleep(3), me.note("never"))).start()
        time.sleep(9)

    assert notes(play(code, lambda me: time.sleep(9), faults=[Crash("A", at=2)])) == []


def test_all_lanes_of_a_client_die_with_it() -> None:
    def code(me: Any) -> None:
        me.start(lambda me: (time.sleep(3), me.note("never")), lane="T2")
        time.sleep(9)

    timeline = play(code, faults=[Crash("A", at=2)])
    assert notes(timeline) == []
    assert timeline.end == 2


def test_its_connections_break() -> None:
    with World() as world:
        client = world.client("A")
        client.start(lambda me: (me.redis().ping(), time.sleep(9)))
        world.client("B").start(lambda me: time.sleep(9))
        world.arm(Crash("A", at=2))
        world.run()
        assert client.connections == []


def test_a_lock_that_a_crashed_client_waited_for_goes_to_another() -> None:
    import threading

    lock = threading.Lock()  # a real one, made before: the world's own is made in a client
    box: list[Any] = [lock]

    def holder(me: Any) -> None:
        box[0] = threading.Lock()
        with box[0]:
            time.sleep(5)

    def waiter(me: Any) -> None:
        time.sleep(1 if me.name == "B" else 2)
        with box[0]:
            me.note(f"{me.name} has it")

    assert notes(play(holder, waiter, waiter, faults=[Crash("B", at=3)])) == ["C has it"]


def test_a_second_crash_changes_nothing() -> None:
    timeline = play(lambda me: time.sleep(9), lambda me: time.sleep(9), faults=[Crash("A", at=2), Crash("A", at=3)])
    assert len(timeline.find("crash")) == 1


def test_a_server_does_not_crash_but_restart() -> None:
    with pytest.raises(ValueError, match="redis is a server: let it restart"):
        play(lambda me: time.sleep(9), faults=[Crash("redis", at=1)])
