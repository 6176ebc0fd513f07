"""What a lock answers agrees with the server: a refused acquisition has left nothing taken, a release that worked is
not reported as a loss, and what is reported as released or extended is. The first two go wrong where a reply is lost
and the client library asks again (erratum E05). What reaches the server after the answer is not held against it.
"""

from __future__ import annotations

from ..timeline import Hold, Op, Timeline
from ..verdict import Verdict
from ._spans import acquisition

CLAIM = "What the lock answers agrees with the server."
CALLS = ("acquire", "extend", "release")


def check(timeline: Timeline) -> Verdict:
    answered = [op for op in timeline.ops() if op.name in CALLS and op.outcome != "unknown" and op.ret is not None]
    for op in answered:
        wrong = _wrong(timeline, op)
        if wrong:
            why, hold = wrong
            return Verdict(CLAIM, False, f"{why}.", (op.seq, *(hold.evidence if hold else ())))
    if not answered:
        return Verdict(CLAIM, None, "No acquisition, extension or release was answered in this run.")
    return Verdict(CLAIM, True, f"{len(answered)} answers, none of them wrong.")


def _wrong(timeline: Timeline, op: Op) -> tuple[str, Hold | None] | None:
    """What is wrong with this answer, and the hold that shows it; None if it is right or cannot be told."""
    ret, key = op.ret or 0.0, op.args["key"]
    grant = op.grant
    if grant is None or not timeline.truth(key) or op.args.get("inner"):
        return None
    mine = [h for h in timeline.truth(key) if _is(acquisition(timeline, h), grant) and h.start <= ret]
    there = next((h for h in mine if h.end > ret or h.why == "open"), None)
    ended = [h for h in mine if h is not there and h.why != "renewed"]
    match op.name, op.outcome:
        case "acquire", "fail" if there:
            return f"{op.node} was told that {key} is taken, and it is: by its own request of {_s(op.call)}", there
        case "extend", "ok" if not any(h.start <= op.call < h.end for h in mine):
            return f"{op.node} was told at {_s(ret)} that its lease on {key} is extended, and it had ended before", None
        case "release", "ok" if there and not ended:
            return f"{op.node} was told at {_s(ret)} that {key} is released, and still holds it", there
        case "release", "fail":
            for hold in ended:
                if hold.why == "deleted" and _is(timeline.origin(hold.evidence[-1]), op.seq):
                    return f"{op.node}'s release deleted its own {key} at {_s(hold.end)}, and reports a loss", hold
    return None


def _is(op: Op | None, seq: int) -> bool:
    return op is not None and op.seq == seq


def _s(seconds: float) -> str:
    return f"t = {seconds:.3f} s"
