"""P3: the protected resource accepts no write of a holder whose lock has been granted to somebody else meanwhile.

The moments that count are when the server grants and when the resource applies the write, not when a client hears of
the one or sends the other; but a grant that nobody ever hears of harms nobody. Where a recording does not show these
moments, a grant that falls between call and return leaves the question open. Where holders register with what they
write to, a new one counts from its first registration on: until then it has seen nothing that could go stale.
"""

from __future__ import annotations

from ..timeline import Belief, Op, Timeline
from ..verdict import Verdict
from ._spans import UNTESTED, Moment, applied, contended, refused

CLAIM = "P3: no write is accepted from a holder whose lock is somebody else's by then."


def check(timeline: Timeline) -> Verdict:
    writes = [w for w in timeline.ops("write") if w.args.get("grant") is not None and not refused(timeline, w)]
    doubt: Verdict | None = None
    for write in writes:
        first, last = applied(timeline, write)
        for moment, node in _later_grants(timeline, write):
            if moment <= first:
                why = f"{write.node}'s write of {write.args.get('value')} to {write.args['resource']} was accepted at "
                why += f"t = {first[0]:.3f} s; {node} had been granted the lock at t = {moment[0]:.3f} s."
                return Verdict(CLAIM, False, why, tuple(dict.fromkeys((write.seq, moment[1], first[1]))))
            if moment <= last and doubt is None:
                why = f"The recording does not show whether {write.node}'s write was accepted after {node}'s grant at "
                why += f"t = {moment[0]:.3f} s."
                doubt = Verdict(CLAIM, None, why, (write.seq, moment[1]))
    if doubt is not None:
        return doubt
    if not writes or not contended(timeline):
        return Verdict(CLAIM, None, UNTESTED if writes else "No holder wrote anything.")
    return Verdict(CLAIM, True, f"All {len(writes)} accepted writes came from the latest holder.")


def _later_grants(timeline: Timeline, write: Op) -> list[tuple[Moment, str]]:
    """The grants of the same lock that came after the writer's: since when the resource may know, and whose."""
    mine = next((b for b in timeline.belief() if b.grant == write.args["grant"]), None)
    if mine is None:
        return []
    registered = _registered(timeline)
    later = [b for b in timeline.belief(mine.key) if _granted(timeline, b) > _granted(timeline, mine)]
    known = [b for b in later if mine.grant not in registered or b.grant in registered]
    return [(registered.get(b.grant) or _granted(timeline, b), b.node) for b in known]


def _registered(timeline: Timeline) -> dict[int, Moment]:
    """When each grant was first registered with a resource that its lock protects."""
    first: dict[int, Moment] = {}
    for op in timeline.ops("register"):
        if op.outcome == "ok" and op.args.get("grant") is not None:
            first.setdefault(op.args["grant"], applied(timeline, op)[0])
    return first


def _granted(timeline: Timeline, belief: Belief) -> Moment:
    """When the server gave this grant. Where that is not recorded, and where several servers gave it, which no one of
    them did alone, when the client heard of it."""
    holds = [h for h in timeline.truth(belief.key) if h.grant == belief.grant and belief.token in h.value]
    alone = len({h.server for h in holds}) == 1
    return (holds[0].start, holds[0].evidence[0]) if alone else (belief.start, belief.evidence[0])
