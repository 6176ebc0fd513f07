"""What a judge of `keep_alive` looks at: the run, as the contract speaks of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, wraps

from ...derived import Op
from ...timeline import Event, Timeline
from ..trial import Remark, Run, error

HAIR = 2e-6  # seconds: the clock of a world counts whole microseconds


@dataclass(frozen=True)
class Watch:
    """One run of `keep_alive`. Times in seconds of the run."""

    timeline: Timeline
    ttl: float
    interval: float
    variant: str

    @cached_property
    def attempts(self) -> tuple[Op, ...]:
        return tuple(op for op in self.timeline.ops("extend") if op.node == "A")

    @cached_property
    def good(self) -> tuple[Op, ...]:
        return tuple(op for op in self.attempts if op.outcome == "ok")

    @cached_property
    def bad(self) -> tuple[Op, ...]:
        """Attempts of which nobody knows what became of them: a transient error."""
        return tuple(op for op in self.attempts if op.outcome == "unknown" and op.ret is not None)

    @cached_property
    def lost(self) -> tuple[Op, ...]:
        """Attempts that learnt that the lock is not ours any more."""
        return tuple(op for op in self.attempts if op.outcome == "fail" and op.value.get("lost"))

    def _marked(self, what: str) -> tuple[Event, ...]:
        return tuple(event for event in self.timeline if event.data.get("drill") == what)

    @cached_property
    def called(self) -> Event:
        return self._marked("call")[0]

    @cached_property
    def stopped(self) -> Event | None:
        return next(iter(self._marked("stop")), None)

    @property
    def stop(self) -> float:
        """When `stop` was set; where it was not, the end of the run."""
        return self.stopped.t if self.stopped else self.timeline.end

    @cached_property
    def told(self) -> tuple[Event, ...]:
        return self._marked("told")

    @cached_property
    def ended(self) -> Event | None:
        """The return of the call, or its exception."""
        return next(iter((*self._marked("return"), *self._marked("raised"))), None)

    @cached_property
    def released(self) -> tuple[Op, ...]:
        return tuple(op for op in self.timeline.ops("release") if op.node == "A")

    def at_work(self, t: float) -> bool:
        """Whether the call has not ended at `t`."""
        return self.ended is None or self.ended.t > t

    def deadline(self, t: float) -> float:
        """The deadline of the newest lease at time `t`."""
        grants = [op for op in self.timeline.ops("acquire") if op.node == "A" and op.outcome == "ok"][:1]
        known = [op for op in (*grants, *self.good) if op.ret is not None and op.ret <= t]
        return float(known[-1].value["deadline"])

    @property
    def last_deadline(self) -> float:
        """The deadline of the newest lease at the end of the run."""
        return self.deadline(self.timeline.end)


def watched(judge: Callable[[Watch], Remark]) -> Callable[[Run], Remark]:
    """A judge of a Watch as a judge of a Run: an exception that nobody allowed is an error before it is a failure."""

    @wraps(judge)
    def of_run(run: Run) -> Remark:
        assert run.timeline is not None
        watch = Watch(run.timeline, run.facts["ttl"], run.facts["interval"], run.setting.variant)
        end = watch.ended
        raised = end if end is not None and end.data["drill"] == "raised" else None
        if raised is not None and not raised.data["ours"] and run.setting.check != "interrupts":
            text = f": {raised.data['message']}" if raised.data["message"] else ""
            return error(f"keep_alive ended with {raised.data['type']}{text}, at {raised.data['where']}.")
        return judge(watch)

    return of_run
