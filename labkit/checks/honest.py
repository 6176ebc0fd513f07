"""What a lock answers agrees with the server: a refused acquisition has left nothing taken, and a release that worked
is not reported as a loss (erratum E05). Both go wrong where a reply is lost and the client library asks again."""

from __future__ import annotations

from ..timeline import Hold, Op, Timeline
from ..verdict import Verdict

CLAIM = "What the lock answers agrees with the server."


def check(timeline: Timeline) -> Verdict:
    answered = [op for op in timeline.ops() if op.name in ("acquire", "release") and op.outcome != "unknown"]
    for op in answered:
        hold = _contradicts(timeline, op)
        if hold is not None:
            return Verdict(CLAIM, False, _why(op, hold), (op.seq, *hold.evidence))
    if not answered:
        return Verdict(CLAIM, None, "No acquisition or release was answered in this run.")
    return Verdict(CLAIM, True, f"{len(answered)} answers, none of them wrong.")


def _contradicts(timeline: Timeline, op: Op) -> Hold | None:
    if op.outcome != "fail" or op.ret is None:
        return None
    for hold in timeline.truth(op.args["key"]):
        if op.name == "acquire" and hold.grant == op.seq and hold.end > op.ret:
            return hold
        ended_by = timeline.origin(hold.evidence[-1]) if hold.why == "deleted" else None
        if op.name == "release" and hold.grant == op.args["grant"] and ended_by == op:
            return hold
    return None


def _why(op: Op, hold: Hold) -> str:
    if op.name == "acquire":
        return f"{op.node} was told that {hold.key} is taken. It is: by {op.node}'s own request of t = {op.call:.3f} s."
    return f"{op.node}'s release deleted its own lock at t = {hold.end:.3f} s, and reports that the lock was lost."
