"""A flow of control in virtual time: a greenlet that runs ordinary blocking code. No other file imports greenlet.

A task knows to which node it belongs and under which lane its events are recorded; the hub decides when it runs.
"""

from __future__ import annotations

import contextlib
import contextvars
import ctypes
import random
import sys
from collections import deque
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any, Protocol

import greenlet

from .errors import WorldClosed

if TYPE_CHECKING:
    from .hub import Hub

getcurrent = greenlet.getcurrent
Kill = greenlet.GreenletExit  # thrown into a task to end it


class Owner(Protocol):
    """What the hub must know of the node that a task belongs to."""

    name: str
    paused: bool
    crashed: bool
    held_back: deque[Task]
    random: random.Random
    ours: bool  # its code is the world's own: an exception in it is a bug of the world

    def wall(self) -> float: ...

    def thread_died(self, thread: str, error: Exception) -> None: ...


class Task(greenlet.greenlet):
    """One flow of control of a node. `lane` is the name under which its events are recorded."""

    def __init__(self, hub: Hub, node: Owner, lane: str, fn: Callable[..., Any], args: tuple[Any, ...]) -> None:
        super().__init__(self._main, hub.greenlet)
        self.gr_context = _context()
        self.hub, self.node, self.lane = hub, node, lane
        self.fn: Callable[..., Any] | None = fn
        self.args = args
        self.ident = hub.next_ident()
        self.parked = False
        self.woken = False
        self.timer: list[Any] | None = None
        self.ended = False
        self.failure: BaseException | None = None
        self.joiners: list[Task] = []
        self.thread: Any = None
        self.op: int | None = None
        self.daemon = False  # of a daemon thread: its process does not wait for it
        self.started_in: int | None = None  # a thread acts for the operation that started it
        self.sent_at = 0.0
        self.refused = 0

    def _main(self) -> None:
        try:
            assert self.fn is not None
            self.fn(*self.args)
        except (Kill, SystemExit):
            pass  # sys.exit() ends this flow of control, not the program that plays the world
        except BaseException as error:
            self.failure = error
        self.fn, self.args = None, ()
        self.ended = True
        for task in self.joiners:
            self.hub.wake(task)
        self.hub.on_end(self)

    def end(self, hub: Any) -> None:
        """Unwinds what is left of it, on the stack of `hub`, once its world is closed. One that never started has
        nothing to unwind; one that goes on in spite of all is held in memory to the end of the process, for letting go
        of it would make it run again."""
        if self:
            with contextlib.suppress(BaseException):  # also what its own clean-up code raises
                self.parent = hub
                request = self.throw(Kill)
                while request:
                    request = self.switch((False, WorldClosed("This world is closed.")))
        if self:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self))
        self.fn, self.args, self.joiners = None, (), []

    @property
    def within(self) -> int | None:
        """The operation that this flow of control works for."""
        return self.started_in if self.op is None else self.op

    def __hash__(self) -> int:
        return self.ident


def _context() -> contextvars.Context:
    """The caller's context, with decimal settings of its own: what one client sets must not reach the others."""
    context, decimal = contextvars.copy_context(), sys.modules.get("decimal")
    if decimal is not None:
        context.run(lambda: decimal.setcontext(decimal.getcontext().copy()))
    return context


def current() -> Task:
    """The calling task. Raises RuntimeError where the caller is none."""
    task = getcurrent()
    if task.__class__ is not Task:
        raise RuntimeError("This belongs to a world: use it in the code that a client runs.")
    return task


def line_of(frame: FrameType | None) -> str:
    """`file:line (function)` of the innermost frame that is neither ours, redis-py's nor the standard library's."""
    first = frame
    while frame is not None and _is_infrastructure(frame):
        frame = frame.f_back
    frame = frame or first
    return "its first line" if frame is None else _place(frame, frame.f_lineno)


def line_of_error(error: BaseException) -> str:
    """The same for the line at which an exception came up."""
    step, found = error.__traceback__, None
    while step is not None:
        found = step if found is None or not _is_infrastructure(step.tb_frame) else found
        step = step.tb_next
    return "an unknown line" if found is None else _place(found.tb_frame, found.tb_lineno)


def _place(frame: FrameType, line: int) -> str:
    name = frame.f_code.co_filename.replace("\\", "/")
    short = name if name.startswith("<") else "/".join(name.split("/")[-2:])
    return f"{short}:{line} ({frame.f_code.co_name})"


def _is_infrastructure(frame: FrameType) -> bool:
    return any(part in frame.f_code.co_filename for part in _INFRASTRUCTURE)


_LIB = sys.modules["threading"].__file__ or ""
_INFRASTRUCTURE = (
    *("/labkit/sim/", "\\labkit\\sim\\", "/labkit/recording.py", "-packages/redis/", "-packages/fakeredis/"),
    _LIB.replace("threading.py", ""),
)
