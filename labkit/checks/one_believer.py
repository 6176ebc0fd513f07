"""P2: at no time do two clients believe that they hold one lock. Believe: from the grant's arrival until the client
releases, is told that the lease is lost, or dies. A client that does not look at its clock goes on believing. Threads
of one client are believers of their own; one flow of control that has acquired twice is not two."""

from __future__ import annotations

from ..timeline import Timeline
from ..verdict import Verdict
from ..wording import duration
from ._spans import UNTESTED, contended, overlap, pairs

CLAIM = "P2: at no time do two clients believe that they hold one lock."


def check(timeline: Timeline) -> Verdict:
    for one, other in pairs(timeline):
        both = overlap([(one.start, one.end)], [(other.start, other.end)])
        if both and one.node != other.node:
            why = (
                f"{one.node} and {other.node} both believed that they held {one.key} for {duration(both[1] - both[0])}"
            )
            why += f", from t = {both[0]:.3f} s."
            return Verdict(CLAIM, False, why, (one.evidence[0], other.evidence[0]))
    if not contended(timeline):
        return Verdict(CLAIM, None, UNTESTED)
    return Verdict(CLAIM, True, f"Of {len(timeline.belief())} holders, no two believed at one time.")
