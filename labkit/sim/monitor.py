"""Finds code that blocks real time, names its line and gets it off the processor.

A world needs its clients to wait in virtual time only. One real thread looks, four times a second, whether the running
hub moves on. If it has stood still for `patience` seconds, the line is read off the stack, and the main thread is sent
a signal, whose handler leaves the client where it stands and goes back to the hub: no code of the client runs, so none
can swallow it. Ctrl-C takes the same way out. In another thread an exception is raised, which a client that catches
everything may swallow, and which a call into C does not notice.
"""

from __future__ import annotations

import _thread
import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from .errors import Interrupted, Stuck
from .hub import Hub
from .task import Task, getcurrent, line_of

TICK = 0.25
_sleep = time.sleep  # the real one
_busy = threading.Event()
_guard = threading.Lock()  # nobody is stopped after he has left
_hubs: dict[int, Hub] = {}  # real thread -> the hub it runs
_verdicts: dict[int, str] = {}
_started = False


@contextmanager
def watched(hub: Hub, patience: float | None) -> Iterator[None]:
    """Raises Stuck if the code inside blocks real time for more than `patience` seconds (None: never looks)."""
    me = threading.get_ident()
    if patience is not None:
        hub.patience = patience
        _enter(me, hub)
    before = _take_signals(me)
    try:
        try:
            yield
        except (Interrupted, KeyboardInterrupt):
            if me not in _verdicts:
                raise
            raise Stuck(_verdicts[me]) from None
    except Interrupted:  # a second signal, as the first was slow to take effect on a busy machine
        raise Stuck(_verdicts[me]) from None
    finally:
        if before is not None:
            signal.signal(signal.SIGINT, before)
        _leave(me)


def _enter(me: int, hub: Hub) -> None:
    global _started
    with _guard:
        _hubs[me] = hub
        if not _started:
            _started = True
            _thread.start_new_thread(_look, ())
        _busy.set()


def _leave(me: int) -> None:
    with _guard:
        _hubs.pop(me, None)
        if _verdicts.pop(me, None):
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(me), None)  # one that has come too late
        if not _hubs:
            _busy.clear()


def _take_signals(me: int) -> Any:
    """In the main thread, takes SIGINT over; returns the handler from before, None if there is nothing to put back."""
    if me != threading.main_thread().ident:
        return None
    before = signal.getsignal(signal.SIGINT)
    if before is None or before is signal.SIG_IGN:
        return None

    def leave(number: int, frame: FrameType | None) -> None:
        try:
            if me in _verdicts:
                raise Interrupted
            (before if callable(before) else signal.default_int_handler)(number, frame)
        except BaseException as error:
            task = getcurrent()
            if isinstance(task, Task):
                task.hub.greenlet.throw(error)  # comes back when the world is closed, to end the task
            raise

    signal.signal(signal.SIGINT, leave)
    return before


def _look() -> None:
    """The life of the monitor's thread. It counts its own looks, not seconds: a process that was stopped as a whole has
    not been busy."""
    standing: dict[int, tuple[Hub, int, int]] = {}
    while True:
        _busy.wait()
        _sleep(TICK)
        with _guard:
            for thread, hub in _hubs.items():
                last = standing.get(thread, (None, 0, 0))
                looks = last[2] + 1 if last[:2] == (hub, hub.count) else 0
                standing[thread] = (hub, hub.count, looks)
                if looks and looks * TICK >= hub.patience and _is_at_fault(thread):
                    _stop(thread, hub, looks * TICK)
            for thread in [t for t in standing if t not in _hubs]:
                del standing[thread]


def _is_at_fault(thread: int) -> bool:
    """Not while a module is being imported, nor under a debugger: a person may be looking at the code."""
    frame = sys._current_frames().get(thread)
    while frame is not None:
        if "importlib._bootstrap" in frame.f_code.co_filename or frame.f_code.co_name in ("interaction", "cmdloop"):
            return False
        frame = frame.f_back
    return True


def _stop(thread: int, hub: Hub, stood: float) -> None:
    task = hub.current
    who = task.lane if task is not None else "the world"
    if thread not in _verdicts:
        where = line_of(sys._current_frames().get(thread))
        _verdicts[thread] = (
            f"The code of {who} has blocked real time for {stood:.1f} s at {where}: a loop that never waits, a real "
            "sleep, lock or socket. In a world, wait with time.sleep, threading or a client's redis."
        )
    if thread != threading.main_thread().ident or signal.getsignal(signal.SIGINT) in (None, signal.SIG_IGN):
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(Interrupted))
    elif hasattr(signal, "pthread_kill"):
        signal.pthread_kill(thread, signal.SIGINT)
    else:
        _thread.interrupt_main()


def _forget() -> None:
    """A forked child has no monitor yet."""
    global _started, _busy, _guard
    _started, _busy, _guard = False, threading.Event(), threading.Lock()
    _hubs.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
