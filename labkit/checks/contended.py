"""Contention did occur: the «sometimes» of the course. A lock that nobody wants passes every other check."""

from __future__ import annotations

from ..timeline import Timeline
from ..verdict import Verdict
from ._spans import UNTESTED, contended

CLAIM = "Somebody asked for a lock that another had."


def check(timeline: Timeline) -> Verdict:
    if contended(timeline):
        return Verdict(CLAIM, True, "So the run puts the lock to the test.")
    return Verdict(CLAIM, None, UNTESTED)
