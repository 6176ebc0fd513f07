"""The names that a world replaces, and the switch that replaces them only while it runs.

Each stand-in looks at who is calling: a task gets virtual time, virtual threads and its own stream of random numbers;
every other thread gets the original. Names bound earlier by `from time import sleep` are found by identity in all
loaded modules and replaced too. Out of reach, and said so in the docs: asyncio, multiprocessing, datetime.now.
"""

from __future__ import annotations

import os
import queue
import random
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from . import threads
from .hub import MICRO
from .task import Task, getcurrent

EPOCH = 1_700_000_000.0  # the wall clock of every node at the start of a world, if nobody set it otherwise
MONOTONIC = 1000.0  # and its monotonic clock: not 0, which some libraries take for «not set»


def micros(seconds: float) -> int:
    """Whole microseconds, never rounding a wait down to none."""
    return max(int(seconds * MICRO + 0.999999), 0)


def _in_task(virtual: Callable[..., Any], original: Callable[..., Any]) -> Callable[..., Any]:
    """A stand-in that calls `virtual(task, …)` in a task and `original(…)` elsewhere."""

    def stand_in(*args: Any, **kwargs: Any) -> Any:
        task = getcurrent()
        if task.__class__ is Task:
            return virtual(task, *args, **kwargs)
        return original(*args, **kwargs)

    stand_in.__name__ = getattr(original, "__name__", "stand_in")
    stand_in.__doc__ = original.__doc__
    return stand_in


# -- time ------------------------------------------------------------------------------------------------------


def _wall(task: Task) -> float:
    return task.node.wall()


def _monotonic(task: Task) -> float:
    return MONOTONIC + task.hub.now / MICRO


def _sleep(task: Task, seconds: float) -> None:
    if seconds < 0:
        raise ValueError("sleep length must be non-negative")
    task.hub.sleep(micros(seconds))


def _times() -> Iterator[tuple[ModuleType, str, Callable[..., Any]]]:
    yield time, "sleep", _sleep
    yield time, "time", _wall
    yield time, "time_ns", lambda task: int(_wall(task) * MICRO) * 1000
    for name in ("monotonic", "perf_counter"):
        yield time, name, _monotonic
        yield time, f"{name}_ns", lambda task: int(MONOTONIC * MICRO + task.hub.now) * 1000


# -- threads ---------------------------------------------------------------------------------------------------


def _start(task: Task, thread: threading.Thread) -> None:
    if thread._started.is_set():  # type: ignore[attr-defined]
        raise RuntimeError("threads can only be started once")
    child = task.hub.spawn(task.node, task.lane, _run_thread, thread)
    child.op, child.thread = None, thread
    thread._labkit_task = child  # type: ignore[attr-defined]
    thread._ident = child.ident  # type: ignore[attr-defined]
    thread._started.set()  # type: ignore[attr-defined]


def _run_thread(thread: threading.Thread) -> None:
    try:
        thread.run()
    except SystemExit:
        pass
    except Exception as error:
        thread._labkit_task.node.thread_died(thread.name, error)  # type: ignore[attr-defined]


def _task_of(thread: threading.Thread) -> Task | None:
    return thread.__dict__.get("_labkit_task")


def _join(task: Task, thread: threading.Thread, timeout: float | None = None) -> None:
    other = _task_of(thread)
    if other is None:
        raise RuntimeError("cannot join thread before it is started")
    if other is task:
        raise RuntimeError("cannot join current thread")
    if not other.ended:
        other.joiners.append(task)
        task.hub.park(None if timeout is None else micros(timeout))
        if task in other.joiners:
            other.joiners.remove(task)


def _is_alive(original: Callable[..., bool]) -> Callable[..., bool]:
    def is_alive(thread: threading.Thread) -> bool:
        task = _task_of(thread)
        return original(thread) if task is None else not task.ended

    return is_alive


def _current_thread(task: Task) -> threading.Thread:
    if task.thread is None:
        task.thread = task.hub.outside(threading.Thread, name=task.lane)
        task.thread._labkit_task, task.thread._ident = task, task.ident
    return task.thread  # type: ignore[no-any-return]


def _threads() -> Iterator[tuple[Any, str, Callable[..., Any]]]:
    yield threading.Thread, "start", _start
    yield threading.Thread, "join", _join
    yield threading, "get_ident", lambda task: task.ident
    yield threading, "get_native_id", lambda task: task.ident
    yield threading, "current_thread", _current_thread
    for name in ("Lock", "_allocate_lock"):
        yield threading, name, lambda task: threads.Lock()
    yield threading, "RLock", lambda task: threads.RLock()
    yield queue, "SimpleQueue", lambda task: queue._PySimpleQueue()  # type: ignore[attr-defined]


# -- chance ----------------------------------------------------------------------------------------------------


def _urandom(task: Task, size: int) -> bytes:
    return task.node.random.randbytes(size)


def _uuid1(task: Task, node: int | None = None, clock_seq: int | None = None) -> uuid.UUID:
    return uuid.UUID(int=task.node.random.getrandbits(128), version=1)


def _seed(task: Task, generator: random.Random, a: Any = None, version: int = 2) -> None:
    value = task.node.random.getrandbits(128) if a is None else a
    _ORIGINAL_SEED(generator, value, version)


_ORIGINAL_SEED = random.Random.seed


def _chances() -> Iterator[tuple[Any, str, Callable[..., Any]]]:
    yield os, "urandom", _urandom
    yield uuid, "uuid1", _uuid1
    yield random.Random, "seed", _seed
    for name in random.__all__:
        if name[0].islower() and name not in ("getstate", "setstate"):
            yield random, name, lambda task, *args, name=name, **kw: getattr(task.node.random, name)(*args, **kw)


# -- output ----------------------------------------------------------------------------------------------------

OUTPUT = (  # calls that may wait for a real thread of the kernel: done on the hub's stack, in no virtual time
    ("ipykernel.iostream", "OutStream", ("write", "flush")),
    ("ipykernel.zmqshell", "ZMQDisplayPublisher", ("publish", "clear_output")),
    ("jupyter_client.session", "Session", ("send",)),
    ("logging", "Handler", ("handle",)),
)


def _outputs() -> Iterator[tuple[Any, str, Callable[..., Any]]]:
    for module, owner, names in OUTPUT:
        cls = getattr(sys.modules.get(module), owner, None)
        for name in names if cls is not None else ():
            original = getattr(cls, name)
            yield cls, name, lambda task, *args, original=original, **kw: task.hub.outside(original, *args, **kw)


# -- the switch ------------------------------------------------------------------------------------------------

_SKIP = ("ipykernel", "zmq", "tornado", "debugpy", "asyncio", "labkit.sim", "pydevd", "_pydev")
_switch = threading.Lock()
_depth = 0
_sites: list[tuple[Any, str, Any, Any]] = []  # owner, name, original, stand-in
_main_sites: list[tuple[Any, str, Any, Any]] = []
_stand_ins: dict[int, tuple[Any, Any]] = {}
_seen_modules = 0


@contextmanager
def substituted() -> Iterator[None]:
    """While this is open, tasks of any world see the stand-ins."""
    global _depth
    with _switch:
        if _depth == 0:
            _install()
        _depth += 1
    try:
        yield
    finally:
        with _switch:
            _depth -= 1
            if _depth == 0:
                _uninstall()


def _install() -> None:
    global _seen_modules
    if len(sys.modules) != _seen_modules:
        _seen_modules = len(sys.modules)
        _scan()
    _main_sites[:] = _bound_in(sys.modules["__main__"])
    for owner, name, _, stand_in in (*_sites, *_main_sites):
        setattr(owner, name, stand_in)


def _uninstall() -> None:
    for owner, name, original, _ in (*_sites, *_main_sites):
        setattr(owner, name, original)


def _scan() -> None:
    """Finds each place that holds one of the names. It takes 10 ms or so, hence only when modules were loaded."""
    pairs = [
        (o, n, o.__dict__.get(n) or getattr(o, n), v) for o, n, v in (*_times(), *_threads(), *_chances(), *_outputs())
    ]
    _sites[:] = [(owner, name, original, _in_task(virtual, original)) for owner, name, original, virtual in pairs]
    _sites.append((threading.Thread, "is_alive", threading.Thread.is_alive, _is_alive(threading.Thread.is_alive)))
    _sites.append((threading, "local", threads.real_local, threads.local))
    _stand_ins.clear()
    _stand_ins.update(
        {id(original): (original, s) for owner, _, original, s in _sites if isinstance(owner, ModuleType)}
    )
    own = {(id(owner), name) for owner, name, _, _ in _sites}
    for name, module in list(sys.modules.items()):
        if name != "__main__" and isinstance(module, ModuleType) and not name.startswith(_SKIP):
            _sites.extend(site for site in _bound_in(module) if (id(site[0]), site[1]) not in own)


def _bound_in(module: ModuleType) -> list[tuple[Any, str, Any, Any]]:
    found = []
    for name, value in list(vars(module).items()):
        pair = _stand_ins.get(id(value))
        if pair is not None and pair[0] is value:
            found.append((module, name, value, pair[1]))
    return found
