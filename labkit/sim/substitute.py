"""The switch that replaces names only while a world runs, and only for tasks.

Each stand-in looks at who is calling: a task gets virtual time, virtual threads and its own stream of random numbers;
every other thread gets the original. Names bound earlier by `from time import sleep` are found by identity in all
loaded modules and replaced too. Out of reach, and said so in the docs: asyncio, multiprocessing, datetime.now.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from . import threads
from .standins import everything, is_alive
from .task import Task, getcurrent

Site = tuple[Any, str, Any, Any]  # module or class, name, original, stand-in
_SKIP = ("ipykernel", "zmq", "tornado", "debugpy", "asyncio", "labkit.sim", "pydevd", "_pydev")
_switch = threading.Lock()
_depth = 0
_homes: list[Site] = []  # where the originals live
_borrowed: list[Site] = []  # where other modules have bound them to names of their own
_placed: list[Site] = []  # what is replaced at present
CLOCKS = (time.time, time.monotonic, time.perf_counter, threading.get_ident)
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
    if len(sys.modules) != _seen_modules or not all(getattr(o, n) is original for o, n, original, _ in _homes):
        _seen_modules = len(sys.modules)
        _scan()
    borrowed = [site for site in _borrowed if site[0].__dict__.get(site[1]) is site[2]]  # not what was patched since
    _placed[:] = [*_homes, *borrowed, *_bound_in(sys.modules["__main__"])]
    for owner, name, _, stand_in in _placed:
        setattr(owner, name, stand_in)


def _uninstall() -> None:
    for owner, name, original, _ in _placed:
        setattr(owner, name, original)
    _placed.clear()


def _scan() -> None:
    """Finds each place that holds one of the names. It takes 10 ms or so, hence only when modules were loaded or
    somebody, such as a test, has put something else in an original's place."""
    pairs = [(owner, name, getattr(owner, name), virtual) for owner, name, virtual in everything()]
    _homes[:] = [
        (owner, name, original, _in_task(owner, virtual, original)) for owner, name, original, virtual in pairs
    ]
    _homes.append((threading.Thread, "is_alive", threading.Thread.is_alive, is_alive(threading.Thread.is_alive)))
    _homes.append((threading, "local", threads.real_local, threads.local))
    _stand_ins.clear()
    _stand_ins.update(
        {id(original): (original, s) for owner, _, original, s in _homes if isinstance(owner, ModuleType)}
    )
    own = {(id(owner), name) for owner, name, _, _ in _homes}
    _borrowed.clear()
    for name, module in list(sys.modules.items()):
        if name != "__main__" and isinstance(module, ModuleType) and not name.startswith(_SKIP):
            _borrowed.extend(site for site in _bound_in(module) if (id(site[0]), site[1]) not in own)


def _in_task(owner: Any, virtual: Callable[..., Any], original: Callable[..., Any]) -> Any:
    """A stand-in that calls `virtual(task, …)` in a task and `original(…)` elsewhere."""
    if original in CLOCKS:  # asked for many times a command, and without arguments
        return lambda: virtual(task) if (task := getcurrent()).__class__ is Task else original()

    def stand_in(*args: Any, **kwargs: Any) -> Any:
        task = getcurrent()
        if task.__class__ is Task:
            return virtual(task, *args, **kwargs)
        return original(*args, **kwargs)

    stand_in.__name__ = getattr(original, "__name__", "stand_in")
    stand_in.__doc__ = original.__doc__
    unbound = isinstance(owner, type) and not hasattr(original, "__get__")
    return staticmethod(stand_in) if unbound else stand_in


def _bound_in(module: ModuleType) -> list[Site]:
    found = []
    for name, value in list(vars(module).items()):
        pair = _stand_ins.get(id(value))
        if pair is not None and pair[0] is value:
            found.append((module, name, value, pair[1]))
    return found
