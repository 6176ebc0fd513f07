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
    taken: dict[int, tuple[Op, list[Hold]]] = {}  # what each acquisition wrote, with all its renewals
    for hold in (hold for key in timeline.keys for hold in timeline.truth(key)):
        op = acquisition(timeline, hold)
        if op is not None and op.args.get("ttl") is not None:
            taken.setdefault(op.seq, (op, []))[1].append(hold)
    departures = [(op, holds, left) for op, holds in taken.values() if (left := _left(timeline, op)) is not None]
    for op, holds, left in departures:
        if _stays(holds[-1]) > max(left, holds[0].start) + op.args["ttl"] * SLACK:
            return Verdict(CLAIM, False, _why(holds[-1], left), holds[-1].evidence[:1])
    if not departures:
        return Verdict(CLAIM, None, "No holder with a TTL left its lock in this run.")
    return Verdict(CLAIM, True, f"After {len(departures)} departures the lock was free again within its TTL.")


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
