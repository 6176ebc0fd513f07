"""Nobody releases another's lock: what a call of a lock removes, replaces or shortens on the server was written for the
acquisition that the call is about. Another acquisition of the same client counts as another's. Not releases alone are
looked at: the clean-up of a failed acquisition that deletes what it finds does the same harm.
"""

from __future__ import annotations

from math import inf

from ..timeline import Hold, Op, Timeline
from ..verdict import Verdict
from ._spans import acquisition

CLAIM = "Nobody releases another's lock."
DID = {"deleted": "deleted", "changed": "overwrote", "renewed": "cut short"}


def check(timeline: Timeline) -> Verdict:
    for key in timeline.keys:
        for hold in timeline.truth(key):
            op = _harmed_by(timeline, hold)
            if op is not None:
                last = hold.evidence[-1]
                why = f"{op.node}'s {op.name} at t = {hold.end:.3f} s {DID[hold.why]} the lock {key} that {hold.owner} "
                why += f"held since t = {hold.start:.3f} s."
                return Verdict(CLAIM, False, why, (op.seq, last, hold.evidence[0]))
    releases = timeline.ops("release")
    if not releases:
        return Verdict(CLAIM, None, "Nobody released anything in this run.")
    if not any(timeline.truth(key) for key in timeline.keys):
        return Verdict(CLAIM, None, "The recording does not show what became of the keys.")
    return Verdict(CLAIM, True, f"Each of {len(releases)} releases touched its own lock or none.")


def _harmed_by(timeline: Timeline, hold: Hold) -> Op | None:
    """The call, made on behalf of another acquisition, that ended or shortened this hold before its time."""
    ending = timeline.events[hold.evidence[-1]]
    op = timeline.origin(ending.seq) if ending.kind == "apply" else None
    if op is None or op.args.get("key") != hold.key or hold.end >= _or_never(hold.until):
        return None
    after = ending.data["keys"][hold.key]
    if hold.why == "renewed" and _or_never(after["until"]) >= _or_never(hold.until):
        return None  # to prolong another's lock is odd and does it no harm
    owner = acquisition(timeline, hold)
    return None if op.grant == (owner.seq if owner else None) else op


def _or_never(until: float | None) -> float:
    return inf if until is None else until
