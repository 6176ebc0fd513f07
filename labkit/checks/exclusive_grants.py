"""P1: at no time are two grants of one lock valid. Valid: from its arrival until it is released or its lease runs out
by the holder's own clock, or, where no clock ends it, until the service takes it back. A lock service alone can promise
this much, while clocks and memory behave."""

from __future__ import annotations

from ..timeline import Timeline
from ..verdict import Verdict
from ..wording import duration
from ._spans import UNTESTED, contended, overlap, pairs

CLAIM = "P1: at no time are two grants of one lock valid."


def check(timeline: Timeline) -> Verdict:
    for one, other in pairs(timeline):
        both = overlap(one.valid, other.valid)
        if both:
            why = f"{one.node} and {other.node} each had a valid lease on {one.key} for {duration(both[1] - both[0])}"
            why += f", from t = {both[0]:.3f} s."
            return Verdict(CLAIM, False, why, (one.evidence[0], other.evidence[0]))
    if not contended(timeline):
        return Verdict(CLAIM, None, UNTESTED)
    return Verdict(CLAIM, True, f"Of {len(timeline.belief())} grants, no two were valid at one time.")
