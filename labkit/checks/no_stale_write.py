"""P3: the protected resource accepts no write of a holder whose lock has been granted to somebody else meanwhile.

The moment that counts is when the resource applies the write, not when the holder sent it. Where a recording does not
show that moment, a grant that falls between call and return leaves the question open.
"""

from __future__ import annotations

from ..timeline import Op, Timeline
from ..verdict import Verdict
from ._spans import UNTESTED, contended

CLAIM = "P3: no write is accepted from a holder whose lock is somebody else's by then."


def check(timeline: Timeline) -> Verdict:
    writes = [w for w in timeline.ops("write") if w.args.get("grant") is not None and w.outcome != "fail"]
    doubt: Verdict | None = None
    for write in writes:
        first, last, seen = _applied(timeline, write)
        for moment, seq, node in _later_grants(timeline, write):
            if moment <= first:
                why = f"{write.node}'s write of {write.args.get('value')} to {write.args['resource']} was accepted at "
                why += f"t = {first:.3f} s; {node} had been granted the lock at t = {moment:.3f} s."
                return Verdict(CLAIM, False, why, (write.seq, seq, *seen))
            if moment <= last:
                why = f"{write.node}'s write and {node}'s grant overlap; the recording does not show which came first."
                doubt = Verdict(CLAIM, None, why, (write.seq, seq))
    if doubt or not writes or not contended(timeline):
        return doubt or Verdict(CLAIM, None, "No holder wrote anything." if not writes else UNTESTED)
    return Verdict(CLAIM, True, f"All {len(writes)} accepted writes came from the latest holder.")


def _applied(timeline: Timeline, write: Op) -> tuple[float, float, tuple[int, ...]]:
    """When the resource took the write: earliest and latest, and the event that shows it."""
    name = write.args["resource"]
    shown = [e for e in timeline.find("apply") if name in e.name.split() and timeline.origin(e.seq) == write]
    if shown:
        return shown[-1].t, shown[-1].t, (shown[-1].seq,)
    if timeline.find("apply"):  # applies are recorded, and this one is not among them: it never arrived
        return float("-inf"), float("-inf"), ()
    return write.call, timeline.end if write.ret is None else write.ret, ()


def _later_grants(timeline: Timeline, write: Op) -> list[tuple[float, int, str]]:
    """Grants of the same lock that came after the writer's: when, which event, whose."""
    mine = next((b for b in timeline.belief() if b.grant == write.args["grant"]), None)
    if mine is None:
        return []
    others = [b for b in timeline.belief(mine.key) if b.grant != mine.grant and b.start > mine.start]
    first_hold = {h.grant: h for h in reversed(timeline.truth(mine.key))}
    return [(first_hold[b.grant].start if b.grant in first_hold else b.start, b.evidence[0], b.node) for b in others]
