"""What `threading` is made of, for tasks: locks that wait in virtual time, thread-locals that are task-locals.

Event, Condition, Semaphore, Timer, Queue and ThreadPoolExecutor are plain Python on top of these and follow free.
Used outside a task, once a world is over, a lock of it still works as a plain lock that nobody else holds.
"""

from __future__ import annotations

import _threading_local
import threading
from collections import deque
from contextlib import suppress
from typing import Any

from .hub import micros
from .task import Task, getcurrent

real_local = threading.local
real_get_ident = threading.get_ident


def ident() -> int:
    """The task's number inside a world, the thread's elsewhere."""
    task = getcurrent()
    return task.ident if isinstance(task, Task) else real_get_ident()


class Lock:
    """`threading.Lock` in virtual time: waiters are served in the order of their coming."""

    __slots__ = ("_locked", "_waiters")

    def __init__(self) -> None:
        self._locked = False
        self._waiters: deque[Task] | None = None

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        if not self._locked:
            self._locked = True
            return True
        task = getcurrent()
        if not blocking or task.__class__ is not Task:
            return False
        return self._wait(task, timeout)

    def _wait(self, task: Task, timeout: float) -> bool:
        if self._waiters is None:
            self._waiters = deque()
        self._waiters.append(task)
        if task.hub.park(None if timeout < 0 else micros(timeout)):
            return True  # handed over by release()
        with suppress(ValueError):  # release() has passed over it: its time had run out while its node stood still
            self._waiters.remove(task)
        return self.acquire(False)

    def release(self) -> None:
        if not self._locked:
            raise RuntimeError("release unlocked lock")
        while self._waiters:
            task = self._waiters.popleft()
            if task.parked and not task.ended and not task.node.crashed:
                task.hub.wake(task)
                return
        self._locked = False

    def locked(self) -> bool:
        return self._locked

    def _at_fork_reinit(self) -> None:
        self._locked, self._waiters = False, None

    __enter__ = acquire

    def __exit__(self, *exc: object) -> None:
        self.release()


class RLock(Lock):
    """`threading.RLock` in virtual time. Its owner is a greenlet: a task, or whatever a real thread runs on."""

    __slots__ = ("_count", "_owner")

    def __init__(self) -> None:
        super().__init__()
        self._owner: object = None
        self._count = 0

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        me = getcurrent()
        if self._owner is me:
            self._count += 1
            return True
        if self._locked and not super().acquire(blocking, timeout):
            return False
        self._locked, self._owner, self._count = True, me, 1
        return True

    def release(self) -> None:
        if self._owner is not getcurrent():
            raise RuntimeError("cannot release un-acquired lock")
        self._count -= 1
        if not self._count:
            self._owner = None
            super().release()

    def _is_owned(self) -> bool:  # this and the next two are what threading.Condition asks of its lock
        return self._owner is getcurrent()

    def _release_save(self) -> tuple[int, object]:
        state, self._count, self._owner = (self._count, self._owner), 0, None
        super().release()
        return state

    def _acquire_restore(self, state: tuple[int, object]) -> None:
        super().acquire()
        self._count, self._owner = state

    def _at_fork_reinit(self) -> None:
        super()._at_fork_reinit()
        self._owner, self._count = None, 0

    __enter__ = acquire

    def __exit__(self, *exc: object) -> None:
        self.release()


class _TaskLocal:
    """A namespace for each task."""

    def __init__(self) -> None:
        object.__setattr__(self, "_spaces", {})

    def _space(self) -> dict[str, Any]:
        spaces: dict[int, dict[str, Any]] = object.__getattribute__(self, "_spaces")
        return spaces.setdefault(ident(), {})

    def __getattr__(self, name: str) -> Any:
        if name == "__dict__":
            return self._space()
        try:
            return self._space()[name]
        except KeyError:
            raise AttributeError(f"'_thread._local' object has no attribute {name!r}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        self._space()[name] = value

    def __delattr__(self, name: str) -> None:
        try:
            del self._space()[name]
        except KeyError:
            raise AttributeError(name) from None


class local(_threading_local.local):
    """What `threading.local` is while a world runs; also a base for classes, each task with a namespace of its own."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls is not local:
            return super().__new__(cls, *args, **kwargs)
        return _TaskLocal() if getcurrent().__class__ is Task else real_local()
