"""The scheduler: ordinary blocking code in virtual time.

Each client, thread and server session is a `Task`, a greenlet that runs until it waits. When all wait, the clock jumps
to the next entry of the heap. Time is counted in whole microseconds, so that equal means equal. Ties go first in first
out, unless the oracle says otherwise. Nothing here knows of Redis, locks or faults; a paused node's tasks are held
back, a crashed node's are never resumed (and so never unwind).
"""

from __future__ import annotations

import gc
import heapq
import math
from collections import Counter
from collections.abc import Callable
from typing import Any

from .choices import Choices
from .errors import Interrupted, RanAway, WorldClosed
from .task import Owner, Task, current, getcurrent, line_of

MICRO = 1_000_000
MAX_EVENTS = 200_000
MAX_AT_ONE_TIME = 20_000


def micros(seconds: float) -> int:
    """Whole microseconds, never rounding a wait down to none: a loop that waits for the rest of a float would spin."""
    return max(math.ceil(seconds * MICRO - 1e-6), 1) if seconds > 0 else 0


class Hub:
    """Runs tasks. `on_end(task)` is called when one has ended; set `done` to stop the loop."""

    def __init__(self, choices: Choices) -> None:
        self.greenlet = getcurrent()
        self.choices = choices
        self.now = 0
        self.count = 0
        self.done = False
        self.closed = False
        self.patience = 1.0
        self.current: Task | None = None
        self.tasks: list[Task] = []
        self.names: Counter[str] = Counter()  # of threads and pools without a name of their own
        self.on_end: Callable[[Task], None] = lambda task: None
        self._heap: list[list[Any]] = []
        self.stood: dict[str, int] = {}  # for how long a node's monotonic clock has stood still, in microseconds
        self._serial = self._idents = self._same = 0

    def next_ident(self) -> int:
        self._idents += 1
        return self._idents

    # -- called by anyone --------------------------------------------------------------------------------------

    def at(self, when: int, fn: Callable[[Any], Any], arg: Any, node: str = "") -> list[Any]:
        """Calls `fn(arg)` at virtual microsecond `when`; the entry can be given to `cancel`."""
        tie = self.choices.pick("tie", node, 3) if self.choices.free and node else 0
        self._serial += 1
        entry = [when, tie, self._serial, fn, arg]
        heapq.heappush(self._heap, entry)
        return entry

    @staticmethod
    def cancel(entry: list[Any]) -> None:
        entry[3] = entry[4] = None

    def spawn(self, node: Owner, lane: str, fn: Callable[..., Any], *args: Any) -> Task:
        """A new task of `node`, ready at the present moment."""
        task = Task(self, node, lane, fn, args)
        self.tasks.append(task)
        self.at(self.now, self.resume, task, node.name)
        return task

    def wake(self, task: Task) -> None:
        """Makes a parked task ready; does nothing to one that is not parked."""
        if task.parked:
            task.parked = False
            task.woken = True
            if task.timer is not None:
                self.cancel(task.timer)
                task.timer = None
            self.at(self.now, self.resume, task, task.node.name)

    def wake_now(self, task: Task) -> None:
        """As `wake`, but runs the task at once; only for the hub's own stack."""
        if task.parked:
            task.parked, task.woken = False, True
            if task.timer is not None:
                self.cancel(task.timer)
                task.timer = None
            self.resume(task)

    def kill(self, task: Task) -> None:
        """Ends a task wherever it waits, from the hub's own stack."""
        self.at(self.now, lambda t: None if t.ended else t.throw(), task)

    def stand_still(self, node: Owner, micros: int) -> None:
        """Holds up a node's monotonic clock, so that each of its timers comes that much later."""
        self.stood[node.name] = self.stood.get(node.name, 0) + micros
        for entry in self._heap:
            if entry[4].__class__ is Task and entry[4].node is node:
                entry[0] += micros
        heapq.heapify(self._heap)

    # -- called by tasks ---------------------------------------------------------------------------------------

    def sleep(self, micros: int) -> None:
        """Suspends the calling task for `micros` of virtual time."""
        task = self._task()
        self.at(self.now + micros, self.resume, task, task.node.name)
        self.greenlet.switch()
        if self.closed:
            self.refuse()

    def park(self, micros: int | None = None) -> bool:
        """Suspends the calling task until `wake` (True) or for at most `micros` (then False)."""
        task = self._task()
        task.parked, task.woken = True, False
        if micros is not None:
            task.timer = self.at(self.now + max(micros, 0), self._time_out, task, task.node.name)
        self.greenlet.switch()
        if self.closed:
            self.refuse()
        return task.woken

    def outside(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Calls `fn` on the hub's own stack, where every name has its ordinary meaning and no virtual time passes."""
        fine, result = self.greenlet.switch(fn, args, kwargs)
        if not fine:
            raise result
        return result

    def _task(self) -> Task:
        if self.closed:
            self.refuse()
        return current()

    def refuse(self) -> None:
        if self.closed:
            task = getcurrent()
            if isinstance(task, Task):
                task.refused += 1
                while task.refused > 3:  # it swallows every refusal: leave it where it is
                    self.greenlet.switch()
            raise WorldClosed("This world is closed.")

    # -- the loop ----------------------------------------------------------------------------------------------

    def run(self, until: int) -> None:
        """Runs what is due up to virtual microsecond `until`, or until `done`, or until nothing is left to do."""
        collecting = gc.isenabled()
        gc.disable()  # a __del__ at a moment of the collector's choosing would be an event of its own
        self.greenlet = getcurrent()
        try:
            self._loop(until)
        finally:
            self.current = None
            if collecting:
                gc.enable()

    def _loop(self, until: int) -> None:
        heap, pop = self._heap, heapq.heappop
        while heap and not self.done:
            entry = pop(heap)
            when, _, _, fn, arg = entry
            if fn is None:
                continue
            if when > until:
                heapq.heappush(heap, entry)
                self.now = until
                return
            if when > self.now:
                self.now, self._same = when, self.count
            self.count += 1
            if self.count > MAX_EVENTS or self.count - self._same > MAX_AT_ONE_TIME:
                self._run_away()
            fn(arg)

    def idle(self, but: Callable[..., Any]) -> bool:
        """True if nothing will ever happen any more, apart from calls of the method `but`."""
        return all(entry[3] is None or getattr(entry[3], "__func__", None) is but for entry in self._heap)

    def play(self, task: Task) -> None:
        """Runs a task of its own, outside the loop, that does not wait."""
        self.greenlet = task.parent = getcurrent()
        request = task.switch()
        while request:
            request = task.switch(self._call(*request))
        if not task.ended:
            raise RuntimeError("Nothing can wait here: the world is not running. Do it in the code of a client.")
        if task.failure is not None:
            raise task.failure

    def resume(self, task: Task) -> None:
        node = task.node
        if task.ended or node.crashed:
            return
        if node.paused:
            node.held_back.append(task)
            return
        self.current = task
        request = task.switch()
        while request:  # a task asks for a call on this stack
            request = task.switch(self._call(*request))
        self.current = None
        if task.failure is not None and (node.ours or not isinstance(task.failure, Exception)):
            error, task.failure = task.failure, None
            if not isinstance(error, WorldClosed):
                raise error

    @staticmethod
    def _call(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[bool, Any]:
        try:
            return True, fn(*args, **kwargs)
        except (KeyboardInterrupt, Interrupted):
            raise  # it is meant for whoever runs the world, not for the client that prints
        except BaseException as error:
            return False, error

    def _time_out(self, task: Task) -> None:
        if task.parked:
            task.parked, task.timer = False, None
            self.resume(task)

    def _run_away(self) -> None:
        busy = [t for t in self.tasks if not t.ended and hasattr(t.node, "redis") and t.gr_frame is not None]
        where = "; ".join(f"{t.lane} at {line_of(t.gr_frame)}" for t in busy[:4]) or "no client is alive"
        if self.count > MAX_EVENTS:
            raise RanAway(f"Stopped after {MAX_EVENTS:,} events, at t = {self.now / MICRO:.3f} s: {where}. {ENDLESS}")
        raise RanAway(f"Time stands still at t = {self.now / MICRO:.3f} s while work goes on: {where}. {ENDLESS}")

    # -- the end -----------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Ends all tasks. Their clean-up code meets a world that refuses everything; a task that swallows that three
        times, or does not give the processor back, is left parked for good."""
        self.closed = True
        self.greenlet = getcurrent()
        self.on_end = lambda task: None
        for task in self.tasks:
            self.count, self.current = self.count + 1, task
            task.end(self.greenlet)
        self.current = None
        self.tasks.clear()
        self._heap.clear()


ENDLESS = "A loop without a wait, or a wait of no time, does this."
