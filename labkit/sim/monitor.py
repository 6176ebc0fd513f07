"""Finds code that blocks real time, names its line and gets it off the processor.

A world needs its clients to wait in virtual time only. One real thread looks, four times a second, whether the running
hub moves on. If it has stood still for `patience` seconds, the line is read off the stack; then an exception is raised
in that thread, or a signal sent where the thread sleeps inside C. Where neither can be had (a C call in a thread other
than the main one), only the naming works.
"""

from __future__ import annotations

import _thread
import ctypes
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from .errors import Interrupted, Stuck
from .hub import Hub
from .task import line_of

TICK = 0.25
_sleep, _monotonic = time.sleep, time.monotonic  # the real ones
_busy = threading.Event()
_hubs: dict[int, Hub] = {}  # real thread -> the hub it runs
_verdicts: dict[int, str] = {}
_started = False


@contextmanager
def watched(hub: Hub, patience: float | None) -> Iterator[None]:
    """Raises Stuck if the code inside blocks real time for more than `patience` seconds (None: never looks)."""
    global _started
    if patience is None:
        yield
        return
    me = threading.get_ident()
    hub.patience = patience
    _hubs[me] = hub
    if not _started:
        _started = True
        _thread.start_new_thread(_look, ())
    _busy.set()
    try:
        yield
    except (Interrupted, KeyboardInterrupt):
        if me not in _verdicts:
            raise
        raise Stuck(_verdicts[me]) from None
    finally:
        _hubs.pop(me, None)
        _verdicts.pop(me, None)
        if not _hubs:
            _busy.clear()


def _look() -> None:
    """The life of the monitor's thread."""
    standing: dict[int, tuple[Hub, int, float]] = {}
    while True:
        _busy.wait()
        _sleep(TICK)
        now = _monotonic()
        for thread, hub in list(_hubs.items()):
            last = standing.get(thread)
            if last is None or last[0] is not hub or last[1] != hub.count:
                standing[thread] = (hub, hub.count, now)
            elif now - last[2] >= hub.patience - TICK / 2 and _is_at_fault(thread):
                _stop(thread, hub, now - last[2])
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
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(Interrupted))
    if stood > hub.patience + TICK and thread == threading.main_thread().ident and hasattr(signal, "pthread_kill"):
        signal.pthread_kill(thread, signal.SIGINT)
