"""Every client comes to an end: no deadlock. A client that was cut off by the end of the run leaves it open."""

from __future__ import annotations

from ..timeline import Timeline
from ..verdict import Verdict

CLAIM = "Every client comes to an end."


def check(timeline: Timeline) -> Verdict:
    notes = [e for e in timeline.find("note") if e.data.get("unfinished")]
    stuck = [e for e in notes if e.data.get("deadlock")]
    if stuck:
        return Verdict(CLAIM, False, "; ".join(e.name for e in stuck) + ".", tuple(e.seq for e in stuck))
    if notes:
        return Verdict(CLAIM, None, "; ".join(e.name for e in notes) + ".", tuple(e.seq for e in notes))
    return Verdict(CLAIM, True, "All did.")
