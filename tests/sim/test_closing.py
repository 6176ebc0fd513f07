"""What is left when a run is over: nothing that counts, runs or stays in memory. And what ends a run early."""

from __future__ import annotations

import gc
import subprocess
import sys
import time
import weakref
from typing import Any

import pytest

from labkit.faults import Crash, Pause, Restart
from labkit.sim import ClientDied, RanAway, World, WorldClosed, WorldError
from labkit.sim import hub as hub_module
from tests.sim.playing import notes, play, result, started


def test_no_clean_up_code_of_a_killed_client_runs_while_the_world_runs() -> None:
    ran: list[str] = []

    class Held:
        def __enter__(self) -> None: ...

        def __exit__(self, *exc: object) -> None:
            ran.append("exit")

    def code(me: Any) -> None:
        try:
            with Held():
                time.sleep(50)
        finally:
            ran.append("finally")

    def witness(me: Any) -> None:
        time.sleep(90)
        assert ran == []

    play(code, witness, faults=[Crash("A", at=1)])
    assert ran == ["exit", "finally"]


def test_clean_up_code_meets_a_world_that_refuses_everything() -> None:
    refused: list[str] = []

    def code(me: Any) -> None:
        client = me.redis()
        client.ping()
        try:
            time.sleep(50)
        finally:
            for attempt in (lambda: client.ping(), lambda: time.sleep(1), lambda: print("never seen")):
                try:
                    attempt()
                except WorldClosed as closed:
                    refused.append(str(closed))

    timeline = play(code, until=5)
    assert refused == ["This world is closed."] * 3
    assert timeline.end == 5


def test_what_clean_up_code_does_is_not_in_the_timeline() -> None:
    def code(me: Any) -> None:
        try:
            time.sleep(50)
        finally:
            me.note("too late")

    assert "too late" not in notes(play(code, until=5))


def test_clean_up_code_that_fails_does_not_hide_the_timeline() -> None:
    def code(me: Any) -> None:
        try:
            time.sleep(50)
        finally:
            raise KeyboardInterrupt

    assert len(play(code, until=5)) == 1


def test_a_task_that_swallows_every_refusal_is_parked_for_good() -> None:
    swallowed: list[int] = []

    def code(me: Any) -> None:
        while True:
            try:
                time.sleep(1)
            except BaseException:
                swallowed.append(1)

    play(code, until=5)
    assert 1 <= len(swallowed) <= 5
    assert result(lambda me: me.redis().ping())


def test_a_process_with_a_task_parked_for_good_ends() -> None:
    script = (
        "import time\n"
        "from labkit.sim import World\n"
        "def stubborn(me):\n"
        "    while True:\n"
        "        try: time.sleep(1)\n"
        "        except BaseException: pass\n"
        "with World() as world:\n"
        "    world.client('A').start(stubborn)\n"
        "    world.run(until=2)\n"
        "print('bye')\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("bye\n", "", 0)


def test_nothing_of_a_closed_world_is_kept() -> None:
    def code(me: Any) -> None:
        client = me.redis()
        started(lambda: client.get("a")).join()
        time.sleep(50)

    world = World()
    world.client("A").start(code)
    world.run(until=2)
    gone = weakref.ref(world.hub)
    world.close()
    del world
    gc.collect()
    assert gone() is None


def test_the_collector_is_as_it_was() -> None:
    play(lambda me: None)
    assert gc.isenabled()
    gc.disable()
    try:
        play(lambda me: None)
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_the_collector_rests_while_a_world_runs() -> None:
    assert result(lambda me: gc.isenabled()) is False


# -- running away -------------------------------------------------------------------------------------------------


def test_too_many_events_name_the_client_and_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_module, "MAX_EVENTS", 500)

    def code(me: Any) -> None:
        while True:
            time.sleep(0.001)

    with pytest.raises(
        RanAway, match=r"after 500 events, at t = 0\.\d+ s: A at sim/test_closing.py:\d+ \(code\)"
    ) as away:
        play(code)
    assert away.value.timeline is not None


def test_waits_of_no_time_name_the_client_and_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_module, "MAX_AT_ONE_TIME", 500)

    def code(me: Any) -> None:
        time.sleep(2)
        while True:
            time.sleep(0)

    with pytest.raises(RanAway, match=r"Time stands still at t = 2.000 s .*: A at sim/test_closing.py:\d+ \(code\)"):
        play(code)


def test_the_bounds_leave_room_for_honest_work() -> None:
    assert (hub_module.MAX_EVENTS, hub_module.MAX_AT_ONE_TIME) == (200_000, 20_000)


def test_all_ways_to_stop_early_are_world_errors() -> None:
    from labkit.sim import Stuck

    assert all(issubclass(error, WorldError) for error in (RanAway, Stuck, ClientDied))
    assert not issubclass(WorldClosed, Exception)


# -- nodes that stand still and come back -------------------------------------------------------------------------


def test_a_restart_ends_a_pause_of_the_server() -> None:
    def code(me: Any) -> float:
        time.sleep(3)
        assert me.redis().ping()
        return me.world.now

    assert result(code, faults=[Pause("redis", at=1, lasting=50), Restart(at=2)]) < 4
