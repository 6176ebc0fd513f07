"""What a judge of `acquire` looks at: the calls of one run, and what was asked and told meanwhile.

Who holds is said by what the calls returned, by when the stage sent a holder away, and by the end of its session. An
exception that the contract does not know is an error before it is a failure; one of a client whose session has ended is
left to the check of lost sessions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any

from ...timeline import Timeline
from ...wording import moment
from ..trial import Remark, Run, error, fail, not_tested

AT_ONCE = 0.5  # seconds, where something has to be done at once
Made = Mapping[str, Any]  # a call of `acquire`, as `call.py` wrote it down


@dataclass(frozen=True)
class Look:
    """One run. Times in seconds of the run."""

    timeline: Timeline
    facts: Mapping[str, Any]
    variant: str

    @property
    def path(self) -> str:
        return str(self.facts["path"])

    @property
    def calls(self) -> list[Made]:
        """In the order in which they began."""
        return list(self.facts["calls"])

    def call(self, who: str) -> Made:
        return next(call for call in self.calls if call["who"] == who)

    @property
    def struck(self) -> float | None:
        """When what was to happen in the course of the answer did; None if the answer never came so far."""
        struck = self.facts["struck"]
        return None if struck is None else float(struck)

    def session_end(self, client: str) -> float | None:
        ended = self.facts["ended"].get(client)
        return None if ended is None else float(ended)

    def holds(self, call: Made, t: float) -> bool:
        """Whether this call's grant lasts at `t`."""
        end = self.session_end(call["client"])
        over = [moment for moment in (call["leaves"], end) if moment is not None and moment <= t]
        return bool(call["granted"]) and call["ret"] <= t and not over

    def waits(self, call: Made, t: float) -> bool:
        return bool(call["t"] < t and (call["ret"] is None or call["ret"] > t))

    def asked(self, client: str, start: float, end: float) -> list[Mapping[str, Any]]:
        """What the client asked of zk between two moments."""
        return [a for a in self.facts["asked"] if a["client"] == client and start < a["t"] < end]

    def made(self, client: str) -> list[str]:
        """The nodes that the client made."""
        return [a["made"] for a in self.facts["asked"] if a["client"] == client and a.get("made")]

    def seq(self, call: Made) -> int:
        """The event with which the call begins."""
        lane = call["who"].replace(" (", "/").rstrip(")")
        return next(op.seq for op in self.timeline.ops("acquire") if op.node == lane)

    def number(self, path: str) -> str:
        return path[-10:]


def how(call: Made) -> str:
    """How a call ended, for a sentence about its client."""
    if call["ret"] is None:
        return f"{call['who']}'s call had not come back by the end of the play"
    said = {"lease": "returned a Lease", "none": "returned None", "other": f"returned {call.get('shown')}"}
    said["raised"] = f"raised {call['raised']}"
    return f"{call['who']}'s call {said[call['kind']]} at {moment(call['ret'])} s"


def not_held(call: Made) -> Remark:
    return not_tested(f"the lock was free, and {how(call)}.")


def struck_nothing(what: str) -> Remark:
    return not_tested(f"acquire never {what}.")


Judge = Callable[[Look], Remark]


def looked(judge: Judge) -> Callable[[Run], Remark]:
    """A judge of a Look as a judge of a Run."""

    @wraps(judge)
    def of_run(run: Run) -> Remark:
        assert run.timeline is not None
        look = Look(run.timeline, run.facts, run.setting.variant)
        for call in look.calls:
            if call["raised"] and not (look.session_end(call["client"]) or 0) > 0:
                return escaped(call)
        return judge(look)

    return of_run


def escaped(call: Made) -> Remark:
    """The remark on an exception of a client whose session has lasted."""
    text = f": {call['message']}" if call["message"] else ""
    if call["lost"]:
        return fail(f"{how(call)}, though its session had not ended.")
    return error(f"acquire ended with {call['raised']}{text}, at {call['where']}.")
