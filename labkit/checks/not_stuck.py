"""P5: no lock stays taken much longer than its TTL once its holder has left. Left: crashed, released, told of the loss,
or never told that it had been granted. Much longer: by more than a tenth."""

from __future__ import annotations

from math import inf

from ..timeline import Hold, Op, Timeline
from ..verdict import Verdict
from ..wording import duration
from ._spans import acquisition

CLAIM = "P5: no lock stays taken much longer than its TTL once its holder has left."
SLACK = 1.1


def check(timeline: Timeline) -> Verdict:
    judged = 0
    for key in timeline.keys:
        for hold in timeline.truth(key):
            op = acquisition(timeline, hold)
            left = _left(timeline, op) if op else None
            if op is None or left is None or op.args.get("ttl") is None:
                continue
            judged += 1
            if _stays(hold) > max(left, hold.start) + op.args["ttl"] * SLACK:
                return Verdict(CLAIM, False, _why(hold, left), hold.evidence[:1])
    if not judged:
        return Verdict(CLAIM, None, "No holder with a TTL left its lock in this run.")
    return Verdict(CLAIM, True, f"After {judged} departures the lock was free again within its TTL.")


def _left(timeline: Timeline, op: Op) -> float | None:
    """When the one who wrote the key was gone; None while it is there."""
    for belief in timeline.belief():
        if belief.grant == op.seq:
            return None if belief.why == "open" else belief.end
    crash = [e.t for e in timeline.find("crash", op.node.split("/")[0]) if e.t >= op.call]
    return min([*crash, *([op.ret] if op.ret is not None else [])], default=None)


def _stays(hold: Hold) -> float:
    if hold.why != "open":
        return hold.end
    return inf if hold.until is None else hold.until


def _why(hold: Hold, left: float) -> str:
    gone = f"{hold.owner} left at t = {left:.3f} s, but {hold.key} "
    if hold.why == "open" and hold.until is None:
        return gone + "has no expiry: nobody will ever get it again."
    return gone + f"stays taken until t = {_stays(hold):.3f} s, {duration(_stays(hold) - left)} later."
