"""The owner of a renewed lock is told of its loss once, by its own deadline at the latest.

Told: by the lock's callback, or by an answer to a call of its own. An owner that stands still is told when it wakes up.
A grant that nobody ever tried to renew is not judged: its owner has a deadline to look at and no promise to rely on.
"""

from __future__ import annotations

from ..timeline import Belief, Event, Timeline
from ..verdict import Verdict

CLAIM = "The owner of a renewed lock is told of its loss once, by its deadline."
SLACK = 0.05  # seconds: nobody reacts in no time


def check(timeline: Timeline) -> Verdict:
    renewed = {op.grant for op in timeline.ops("extend")} | {e.data.get("grant") for e in timeline.find("lost")}
    judged = [belief for belief in timeline.belief() if belief.grant in renewed]
    for belief in judged:
        for wrong in (_twice(timeline, belief), _late(timeline, belief)):
            if wrong is not None:
                return wrong
    lost = sum(belief.why == "lost" for belief in judged)
    if not lost:
        return Verdict(CLAIM, None, "No lock that is renewed was lost in this run.")
    return Verdict(CLAIM, True, f"Of {lost} owners that lost a renewed lock, each was told in time.")


def _told(timeline: Timeline, belief: Belief) -> list[Event]:
    return [e for e in timeline.find("lost") if e.data.get("grant") == belief.grant]


def _twice(timeline: Timeline, belief: Belief) -> Verdict | None:
    told = _told(timeline, belief)
    after = [e for e in told if e.t > belief.end] if belief.why == "released" else []
    if len(told) < 2 and not after:
        return None
    how = "after it had released" if after else f"{len(told)} times"
    why = f"{belief.node} was told {how} that {belief.key} is lost."
    return Verdict(CLAIM, False, why, tuple(e.seq for e in after or told))


def _late(timeline: Timeline, belief: Belief) -> Verdict | None:
    """Its lease ended, by its own clock, while it believed, and it was not told within a moment of being awake."""
    deadline = _deadline(timeline, belief)
    due = _awake(timeline, belief.node, deadline) + SLACK
    if belief.end <= due:
        return None
    told = f"at t = {belief.end:.3f} s" if belief.why == "lost" else "never"
    why = f"{belief.node}'s lease on {belief.key} ended at t = {deadline:.3f} s by its own clock; it was told {told}."
    return Verdict(CLAIM, False, why, belief.evidence[:1])


def _deadline(timeline: Timeline, belief: Belief) -> float:
    """The end of its last lease; of what an owner is told after its lease has run out, nothing counts any more."""
    latest = belief.start
    for event in timeline.events[belief.evidence[0] :]:
        op = timeline.origin(event.cause) if event.kind == "ok" and event.name in ("acquire", "extend") else None
        if op is not None and op.grant == belief.grant and (latest == belief.start or event.t <= latest):
            latest = max(latest, float(event.data.get("deadline", float("inf"))))
    return latest


def _awake(timeline: Timeline, node: str, moment: float) -> float:
    """The first moment from then on at which this client was not paused."""
    asleep: float | None = None
    for event in timeline.events:
        if event.node != node.split("/")[0] or event.kind not in ("pause", "wake"):
            continue
        if event.kind == "pause" and event.t <= moment:
            asleep = event.t
        elif event.kind == "wake" and asleep is not None:
            if event.t > moment:
                return event.t
            asleep = None
    return timeline.end if asleep is not None else moment
