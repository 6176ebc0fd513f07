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
    if not any(timeline.truth(key) for key in timeline.keys):
        return Verdict(CLAIM, None, "The recording does not show what became of the keys.")
    return Verdict(CLAIM, True, f"{len(answered)} answers, none of them wrong.")


def _wrong(timeline: Timeline, op: Op) -> tuple[str, Hold | None] | None:
    """What is wrong with this answer, and the hold that shows it; None if it is right or cannot be told."""
    ret, key = op.ret or 0.0, op.args["key"]
    grant = op.grant
    if grant is None or op.args.get("inner"):
        return None
    mine = [h for h in timeline.truth(key) if _is(acquisition(timeline, h), grant) and h.start <= ret]
    there = next((h for h in mine if h.end > ret or h.why == "open"), None)
    ended = [h for h in mine if h is not there and h.why != "renewed"]
    match op.name, op.outcome:
        case "acquire", "fail" if there:
            error = op.value.get("reason", "")[:1].isupper()  # the class of an exception
            told = "of an error, and the lock is taken all the same" if error else f"that {key} is taken, and it is"
            return f"{op.node} was told {told}: by its own request of {_s(op.call)}", there
        case "acquire", "ok" if not mine and _shows_nothing_of(timeline, grant):
            return f"{op.node} was told at {_s(ret)} that it has {key}, and no server has given it", None
        case "extend", "ok" if timeline.truth(key) and not any(h.start <= op.call < h.end for h in mine):
            return f"{op.node} was told at {_s(ret)} that its lease on {key} is extended, and it had ended before", None
        case "release", "ok" if there and not ended:
            return f"{op.node} was told at {_s(ret)} that {key} is released, and still holds it", there
        case "release", "fail":
            for hold in ended:
                if hold.why == "deleted" and _is(timeline.origin(hold.evidence[-1]), op.seq):
                    return f"{op.node}'s release deleted its own {key} at {_s(hold.end)}, and reports a loss", hold
    return None


def _shows_nothing_of(timeline: Timeline, grant: int) -> bool:
    """The servers are recorded, and no key of theirs goes back to this acquisition. (Some libraries prefix theirs.)"""
    return bool(timeline.find("apply")) and not any(_is(acquisition(timeline, h), grant) for h in timeline.truth())


def _is(op: Op | None, seq: int) -> bool:
    return op is not None and op.seq == seq


def _s(seconds: float) -> str:
    return f"t = {seconds:.3f} s"
