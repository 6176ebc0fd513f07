"""Code that blocks real time is named with its line and stopped; the process goes on as if nothing had been.

The only tests in which real time passes, half a second each: what they test is the watch that looks at it.
"""

from __future__ import annotations

import signal
import socket
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from labkit.sim import Stuck
from labkit.sim.monitor import _is_at_fault, watched
from tests.sim.playing import commands, play, result

REMEDY = "In a world, wait with time.sleep, threading or a client's redis."


def stopped(code: Callable[[Any], Any]) -> Stuck:
    """Plays code that gets stuck after its first command, and looks that the process is clean afterwards."""

    def after_a_command(me: Any) -> None:
        me.redis().set("a", 1)
        code(me)

    sleep, handler = time.sleep, signal.getsignal(signal.SIGINT)
    with pytest.raises(Stuck) as stuck:
        play(after_a_command, patience=0.5)
    assert commands(stuck.value.timeline) == ["SET a 1"]
    assert (time.sleep, signal.getsignal(signal.SIGINT)) == (sleep, handler)
    assert result(lambda me: me.redis().ping())
    return stuck.value


@pytest.mark.slow_real_time
def test_a_loop_that_never_waits_is_stopped_also_in_a_thread_of_the_program() -> None:
    def spin(me: Any) -> None:
        while True:
            pass

    told: list[str] = []
    thread = threading.Thread(target=lambda: told.append(str(_error_of(spin))))
    thread.start()
    thread.join()
    assert told[0].startswith("The code of A has blocked real time for 0.5 s at sim/test_stuck.py:")
    assert "(spin): a loop that never waits, " in told[0]
    assert told[0].endswith(REMEDY)


def _error_of(code: Callable[[Any], Any]) -> Exception | None:
    try:
        play(code, patience=0.5)
    except Stuck as error:
        return error
    return None


@pytest.mark.slow_real_time
def test_a_loop_that_swallows_everything_is_stopped_all_the_same() -> None:
    def stubborn(me: Any) -> None:
        while True:
            try:
                while True:
                    list(range(100))
            except BaseException:
                pass

    assert "(stubborn)" in str(stopped(stubborn))


@pytest.mark.slow_real_time
def test_a_real_sleep_is_stopped_and_no_clean_up_code_runs_before_the_world_is_closed() -> None:
    nap, closed = partial(time.sleep, 600), list[bool]()

    def dozing(me: Any) -> None:
        try:
            nap()
        finally:
            closed.append(me.world.hub.closed)

    assert "(dozing)" in str(stopped(dozing))
    assert closed == [True]


@pytest.mark.slow_real_time
def test_a_real_lock_is_stopped() -> None:
    locks = [threading.Lock()]
    locks[0].acquire()

    def locked_out(me: Any) -> None:
        locks[0].acquire()

    assert "(locked_out)" in str(stopped(locked_out))


@pytest.mark.slow_real_time
def test_a_real_socket_is_stopped() -> None:
    one, other = socket.socketpair()

    def listening(me: Any) -> None:
        one.recv(1)

    with one, other:
        assert "(listening)" in str(stopped(listening))


# -- without waiting for the watch --------------------------------------------------------------------------------


def test_somebody_at_a_debugger_is_not_at_fault() -> None:
    def interaction() -> bool:
        return _is_at_fault(threading.get_ident())

    assert interaction() is False
    assert _is_at_fault(threading.get_ident()) is True


def test_without_patience_nobody_looks() -> None:
    from labkit.sim.choices import Choices
    from labkit.sim.hub import Hub
    from labkit.sim.monitor import _hubs

    with watched(Hub(Choices()), None):
        assert threading.get_ident() not in _hubs
    with watched(Hub(Choices()), 1.0):
        assert threading.get_ident() in _hubs
    assert threading.get_ident() not in _hubs
