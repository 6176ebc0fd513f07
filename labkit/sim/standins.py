"""What the replaced names mean in a task: virtual time, virtual threads, chance from the node's own stream.

Each function gets the calling task first, and then what the original would. `everything` lists them all with the place
of the original; when they stand there is up to `substitute`.
"""

from __future__ import annotations

import builtins
import concurrent.futures
import os
import queue
import random
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

from . import threads
from .hub import MICRO, micros
from .task import Task

EPOCH = 1_700_000_000.0  # the wall clock of every node at the start of a world, if nobody set it otherwise
MONOTONIC = 1000.0  # and its monotonic clock: not 0, which some libraries take for «not set»

Place = tuple[Any, str, Callable[..., Any]]  # module or class, name, what stands in


def everything() -> Iterator[Place]:
    """All stand-ins there are now; those for output only where the module is loaded."""
    yield from _times()
    yield from _calendars()
    yield from _threads()
    yield from _chances()
    yield from _outputs()


# -- time ------------------------------------------------------------------------------------------------------


def _wall(task: Task) -> float:
    return task.node.wall()


def _monotonic(task: Task) -> float:
    return MONOTONIC + _monotonic_micros(task) / MICRO


def _monotonic_micros(task: Task) -> int:
    return task.hub.now - task.hub.stood.get(task.node.name, 0)


def _sleep(task: Task, seconds: float) -> None:
    if seconds < 0:
        raise ValueError("sleep length must be non-negative")
    task.hub.sleep(micros(seconds))


def _times() -> Iterator[Place]:
    yield time, "sleep", _sleep
    yield time, "time", _wall
    yield time, "time_ns", lambda task: int(_wall(task) * MICRO) * 1000
    for name in ("monotonic", "perf_counter"):
        yield time, name, _monotonic
        yield time, f"{name}_ns", lambda task: int(MONOTONIC * MICRO + _monotonic_micros(task)) * 1000


def _calendars() -> Iterator[Place]:
    """The functions that read the clock by themselves where they are given no time."""
    local = time.localtime
    for name in ("localtime", "gmtime", "ctime"):
        yield time, name, _by_clock(getattr(time, name), _wall)
    yield time, "asctime", _by_clock(time.asctime, lambda task: local(_wall(task)))
    strftime = time.strftime
    yield time, "strftime", lambda task, form, at=None: strftime(form, local(_wall(task)) if at is None else at)


def _by_clock(original: Callable[[Any], Any], now: Callable[[Task], Any]) -> Callable[..., Any]:
    return lambda task, at=None: original(now(task) if at is None else at)


# -- threads ---------------------------------------------------------------------------------------------------


def _start(task: Task, thread: threading.Thread) -> None:
    if thread._started.is_set():  # type: ignore[attr-defined]
        raise RuntimeError("threads can only be started once")
    child = task.hub.spawn(task.node, task.lane, _run_thread, thread)
    child.started_in, child.thread, child.daemon = task.within, thread, thread.daemon
    thread._labkit_task = child  # type: ignore[attr-defined]
    thread._ident = child.ident  # type: ignore[attr-defined]
    thread._is_stopped = True  # type: ignore[attr-defined]  # for those who look at it once the world is over
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
        started = thread._started.is_set()  # type: ignore[attr-defined]
        raise RuntimeError(f"cannot join thread {'of another world' if started else 'before it is started'}")
    if other is task:
        raise RuntimeError("cannot join current thread")
    if not other.ended:
        other.joiners.append(task)
        task.hub.park(None if timeout is None else micros(timeout))
        if task in other.joiners:
            other.joiners.remove(task)


def is_alive(original: Callable[..., bool]) -> Callable[..., bool]:
    def stand_in(thread: threading.Thread) -> bool:
        task = _task_of(thread)
        return original(thread) if task is None else not task.ended

    return stand_in


def _current_thread(task: Task) -> threading.Thread:
    if task.thread is None:
        task.thread = task.hub.outside(threading.Thread, name=task.lane)
        task.thread._labkit_task, task.thread._ident = task, task.ident
    return task.thread  # type: ignore[no-any-return]


def _next(task: Task, kind: str) -> int:
    """Names of threads are numbered anew in each world: they appear in notes."""
    task.hub.names[kind] += 1
    return task.hub.names[kind] - 1


def _threads() -> Iterator[Place]:
    yield threading.Thread, "start", _start
    yield threading.Thread, "join", _join
    yield threading, "get_ident", lambda task: task.ident
    yield threading, "get_native_id", lambda task: task.ident
    yield threading, "current_thread", _current_thread
    for name in ("Lock", "_allocate_lock"):
        yield threading, name, lambda task: threads.Lock()
    yield threading, "RLock", lambda task: threads.RLock()
    yield threading, "_counter", lambda task: _next(task, "thread") + 1
    yield concurrent.futures.ThreadPoolExecutor, "_counter", lambda task: _next(task, "pool")
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


def _chances() -> Iterator[Place]:
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


def _outputs() -> Iterator[Place]:
    yield builtins, "print", _on_the_hub(print)
    for module, owner, names in OUTPUT:
        cls = getattr(sys.modules.get(module), owner, None)
        for name in names if cls is not None else ():
            yield cls, name, _on_the_hub(getattr(cls, name))


def _on_the_hub(original: Callable[..., Any]) -> Callable[..., Any]:
    return lambda task, *args, **kwargs: task.hub.outside(original, *args, **kwargs)
