"""The life of a world: how a run begins and ends, and what it says when it cannot go on."""

from __future__ import annotations

import gc
import signal
import sys
import threading
import time
from typing import Any

import pytest

from labkit import checks
from labkit.faults import Pause
from labkit.sim import ClientDied, World
from tests.sim.playing import commands, notes, play, result, started

# -- how a run ends -----------------------------------------------------------------------------------------------


def test_a_run_ends_when_all_clients_have_ended() -> None:
    def code(me: Any) -> None:
        started(lambda: time.sleep(50))  # a thread in the background does not keep it going
        time.sleep(3 if me.name == "A" else 5)
        me.note("done")

    assert play(code, code).end == 5


def test_a_run_without_clients_is_over_at_once() -> None:
    assert play().events == ()


def test_who_is_cut_off_by_the_end_is_named() -> None:
    (note,) = play(lambda me: time.sleep(50), until=10).find("note")
    assert note.name.startswith("A is still at work when the run ends at 10 s, at sim/test_runs.py:")
    assert (note.t, note.data["deadlock"]) == (10, False)


def test_two_locks_taken_crosswise_are_a_deadlock() -> None:
    def code(me: Any) -> None:
        one, other = threading.Lock(), threading.Lock()

        def cross() -> None:
            with other:
                time.sleep(1)
                with one:
                    pass

        thread = started(cross)
        with one:
            time.sleep(1)
            with other:
                pass
        thread.join()

    timeline = play(code)
    verdict = checks.judge(timeline, "finishes").verdicts[0]
    assert verdict.holds is False
    assert "A waits for ever, at sim/test_runs.py:" in verdict.why


def test_a_key_that_will_expire_does_not_hide_a_deadlock() -> None:
    def code(me: Any) -> None:
        me.redis().set("lock", 1, px=500_000)
        threading.Event().wait()

    (note,) = play(code, until=60).find("note")
    assert note.data["deadlock"]


def test_a_client_that_stands_still_to_the_end_is_no_deadlock() -> None:
    (note,) = play(lambda me: time.sleep(5), faults=[Pause("A", at=1, lasting=1000)], until=20).find("note")
    assert not note.data["deadlock"]


# -- exceptions ---------------------------------------------------------------------------------------------------


def test_an_exception_of_a_client_comes_with_its_timeline_and_cause() -> None:
    def code(me: Any) -> None:
        me.redis().set("a", 1)
        {}["missing"]

    with pytest.raises(ClientDied, match=r"A ended with an exception .* KeyError: 'missing'") as died:
        play(code)
    assert isinstance(died.value.__cause__, KeyError)
    assert commands(died.value.timeline) == ["SET a 1"]
    assert notes(died.value.timeline) == ["A died: KeyError: 'missing'"]


def test_the_other_clients_go_on_to_their_end() -> None:
    def other(me: Any) -> None:
        time.sleep(5)
        me.note("done")

    with pytest.raises(ClientDied, match="A ended") as died:
        play(lambda me: 1 / 0, other)
    assert notes(died.value.timeline)[-1] == "done"


def test_the_first_of_two_deaths_is_told() -> None:
    with pytest.raises(ClientDied, match=r"^B ended"):
        play(lambda me: (time.sleep(1), 1 / 0), lambda me: 1 / 0)


def test_sys_exit_ends_the_client_and_nobody_else() -> None:
    timeline = play(lambda me: sys.exit(3), lambda me: me.note("B goes on"))
    assert notes(timeline) == ["B goes on"]


def test_an_exception_in_what_a_client_does_outside_is_its_own() -> None:
    def code(me: Any) -> str:
        with pytest.raises(ZeroDivisionError):
            me.world.hub.outside(lambda: 1 / 0)
        time.sleep(1)
        return "went on"

    assert result(code) == "went on"


def test_an_exception_at_a_set_time_is_not_hidden() -> None:
    with World() as world:
        world.client("A").start(lambda me: time.sleep(5))
        world.at(1, lambda: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            world.run()


def test_an_interrupt_inside_a_client_leaves_everything_clean() -> None:
    sleep, handler = time.sleep, signal.getsignal(signal.SIGINT)

    def code(me: Any) -> None:
        time.sleep(1)
        raise KeyboardInterrupt

    world = World()
    world.client("A").start(code)
    world.client("B").start(lambda me: time.sleep(50))
    with pytest.raises(KeyboardInterrupt):
        world.run()
    assert world.hub.closed
    assert world.hub.tasks == []
    assert (time.sleep, signal.getsignal(signal.SIGINT)) == (sleep, handler)
    assert gc.isenabled()
    assert result(lambda me: me.redis().ping())


def test_ctrl_c_stops_the_run_at_once_and_no_client_can_swallow_it() -> None:
    ran: list[str] = []

    def code(me: Any) -> None:
        try:
            signal.raise_signal(signal.SIGINT)
        except BaseException as error:
            ran.append(type(error).__name__)
        time.sleep(50)
        ran.append("went on")

    handler = signal.getsignal(signal.SIGINT)
    with World() as world:
        world.client("A").start(code)
        with pytest.raises(KeyboardInterrupt):
            world.run()
    assert "KeyboardInterrupt" not in ran
    assert "went on" not in ran
    assert signal.getsignal(signal.SIGINT) is handler


def test_ctrl_c_goes_through_the_handler_that_was_there() -> None:
    seen: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    try:
        timeline = play(lambda me: (signal.raise_signal(signal.SIGINT), me.note("went on")))
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == [signal.SIGINT]
    assert notes(timeline) == ["went on"]


def test_who_ignores_ctrl_c_still_does() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        timeline = play(lambda me: (signal.raise_signal(signal.SIGINT), me.note("went on")))
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
    assert notes(timeline) == ["went on"]


# -- a world is used once -----------------------------------------------------------------------------------------


def test_a_world_is_run_once() -> None:
    with World() as world:
        world.run()
        with pytest.raises(RuntimeError, match="has been run already"):
            world.run()


def test_closing_twice_is_fine() -> None:
    world = World()
    world.client("A").start(lambda me: time.sleep(50))
    world.run(until=1)
    world.close()
    world.close()
    with pytest.raises(RuntimeError, match="has been run already"):
        world.run()


def test_a_world_that_never_ran_can_be_closed() -> None:
    with World() as world:
        world.client("A").start(lambda me: me.note("never"))


def test_a_world_is_run_in_the_thread_that_made_it() -> None:
    world, told = World(), list[str]()

    def elsewhere() -> None:
        with pytest.raises(RuntimeError) as refused:
            world.run()
        told.append(str(refused.value))

    started(elsewhere).join()
    world.close()
    assert told == ["A world is made, run and closed in one thread: make this one where you run it."]


def test_worlds_run_in_two_threads_at_once() -> None:
    def code(me: Any) -> None:
        client = me.redis()
        for _ in range(20):
            client.incr("n")

    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.append(play(code))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found[0] == found[1] == found[2] == play(code)


def test_nothing_waits_before_the_run() -> None:
    with World() as world, pytest.raises(RuntimeError, match="Nothing can wait here"):
        world.inside(world.client("A"), lambda: time.sleep(1))


def test_a_client_can_be_furnished_before_the_run() -> None:
    import logging

    def furnish() -> str:
        logging.getLogger("furnishing").warning("a record of no use")
        return threading.current_thread().name

    with World() as world:
        assert world.inside(world.client("A"), furnish) == "A"


@pytest.mark.parametrize("name", ["", "two words", "a.b", 7, None])
def test_a_node_has_a_name_of_one_word(name: Any) -> None:
    with World() as world, pytest.raises(ValueError, match="one word of letters"):
        world.client(name)


def test_a_name_belongs_to_one_node() -> None:
    with World() as world:
        world.server("redis")
        with pytest.raises(ValueError, match="already has a node called 'redis'"):
            world.client("redis")


def test_an_unknown_node_is_answered_with_those_there_are() -> None:
    with World() as world:
        world.server("redis")
        world.client("A")
        with pytest.raises(ValueError, match="No node is called 'B'; this world has A, redis"):
            world.pause("B", 1)
