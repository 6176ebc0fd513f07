"""What a judge of `run` looks at: the run, as the contract speaks of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import NamedTuple

from ...derived import Op
from ...timeline import Event, Timeline
from ..trial import Remark, Run, error

HAIR = 2e-6  # seconds: the clock of a world counts whole microseconds
SAID = ("done", "stopped", "lost")


class Step(NamedTuple):
    """One call of a step. nth: which, from 0.  end: infinity where it did not come to its end."""

    nth: int
    seq: int
    start: float
    end: float


@dataclass(frozen=True)
class Watch:
    """One run of `run`. Times in seconds of the run."""

    timeline: Timeline
    ttl: float
    count: int
    values: tuple[object, ...]
    variant: str

    def _ops(self, name: str) -> tuple[Op, ...]:
        return tuple(op for op in self.timeline.ops(name) if op.node == "A")

    @cached_property
    def grants(self) -> tuple[Op, ...]:
        return tuple(op for op in self._ops("acquire") if op.outcome == "ok")

    @cached_property
    def asked(self) -> tuple[Op, ...]:
        return self._ops("acquire")

    @cached_property
    def extends(self) -> tuple[Op, ...]:
        return self._ops("extend")

    @cached_property
    def bad(self) -> tuple[Op, ...]:
        """Renewals of which nobody knows what became of them: a transient error."""
        return tuple(op for op in self.extends if op.outcome == "unknown" and op.ret is not None)

    @cached_property
    def refused(self) -> Op | None:
        """The first renewal that was told that the lock is not ours any more."""
        return next((op for op in self.extends if op.outcome == "fail" and op.value.get("lost")), None)

    @cached_property
    def releases(self) -> tuple[Op, ...]:
        return self._ops("release")

    @cached_property
    def writes(self) -> tuple[Op, ...]:
        return self._ops("write")

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The steps, in the order in which they began."""
        ends = list(self._marked("stepped"))
        steps = []
        for event in self._marked("step"):
            mine = [e for e in ends if e.data["nth"] == event.data["nth"] and e.seq > event.seq]
            end = mine[0].t if mine else float("inf")
            steps.append(Step(event.data["nth"], event.seq, event.t, end))
            if mine:
                ends.remove(mine[0])
        return tuple(steps)

    def _marked(self, what: str) -> tuple[Event, ...]:
        return tuple(event for event in self.timeline if event.data.get("drill") == what)

    @cached_property
    def called(self) -> Event:
        return self._marked("call")[0]

    @cached_property
    def term(self) -> Event | None:
        return next(iter(self._marked("term")), None)

    @cached_property
    def ended(self) -> Event | None:
        """The return of the call, or its exception."""
        return next(iter((*self._marked("return"), *self._marked("raised"))), None)

    @property
    def raised(self) -> str:
        """The kind of exception that got out; empty if none did."""
        return str(self.ended.data.get("type", "")) if self.ended else ""

    @property
    def said(self) -> str:
        """What `run` returned, if that is a word of the contract; else empty."""
        said = str(self.ended.data.get("said", "")) if self.ended else ""
        return said if said in SAID else ""

    @property
    def told(self) -> str:
        """How the call ended, for a sentence."""
        if self.ended is None:
            return "run had not returned by the end of the play"
        return f"{self.raised} got out of run" if self.raised else f"run returned {self.ended.data['shown']}"

    def at_work(self, t: float) -> bool:
        """Whether the call has not ended at `t`."""
        return self.ended is None or self.ended.t > t

    @cached_property
    def finished(self) -> float:
        """When the last value had been written; infinity if one is missing."""
        whole = [op for op in self.writes if op.ret is not None]
        return whole[-1].ret or 0.0 if len(whole) >= self.count else float("inf")

    # -- the lease -----------------------------------------------------------------------------------------------------

    @cached_property
    def leases(self) -> tuple[tuple[float, float], ...]:
        """When each lease became known, and its deadline."""
        known = [op for op in (*self.grants, *self.extends) if op.outcome == "ok" and op.ret is not None]
        return tuple(sorted((op.ret or 0.0, float(op.value["deadline"])) for op in known))

    def deadline(self, t: float) -> float:
        """The deadline of the newest lease that is known at `t`; 0 if none is."""
        return next((deadline for ret, deadline in reversed(self.leases) if ret <= t), 0.0)

    @cached_property
    def gone(self) -> float:
        """When the lease had gone, by what can be known: a renewal says so, or the newest deadline passes while nothing
        newer is there. Infinity if it lasts to the end of the call."""
        told = self.refused.ret or 0.0 if self.refused else float("inf")
        end = self.ended.t if self.ended else self.timeline.end
        over = [max(lease) for lease in self.leases if max(lease) <= end and self.deadline(max(lease)) <= max(lease)]
        return min([told, *over])


def watched(judge: Callable[[Watch], Remark]) -> Callable[[Run], Remark]:
    """A judge of a Watch as a judge of a Run: an exception that no lock raises is an error before it is a failure."""

    @wraps(judge)
    def of_run(run: Run) -> Remark:
        assert run.timeline is not None
        values = tuple(run.facts["values"])
        watch = Watch(run.timeline, run.facts["ttl"], run.facts["steps"], values, run.setting.variant)
        if watch.raised and watch.ended and not watch.ended.data["ours"]:
            text = f": {watch.ended.data['message']}" if watch.ended.data["message"] else ""
            return error(f"run ended with {watch.raised}{text}, at {watch.ended.data['where']}.")
        return judge(watch)

    return of_run
