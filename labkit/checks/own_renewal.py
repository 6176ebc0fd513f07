"""A renewal gives more time to its own grant only, and none is sent once that grant has been given back.

What counts is what an extension did on the server when it was executed: a key that it prolonged or wrote must have been
its own grant's until then. A renewal that is under way at the release may arrive after it, and must then do nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..timeline import Event, Op, Timeline
from ..verdict import Verdict

CLAIM = "No renewal touches another's lock, or comes after the release."


def check(timeline: Timeline) -> Verdict:
    renewals = timeline.ops("extend")
    for op in renewals:
        for wrong in (_after_release(timeline, op), _not_its_own(timeline, op)):
            if wrong is not None:
                return wrong
    if not renewals:
        return Verdict(CLAIM, None, "Nobody renewed anything in this run.")
    return Verdict(CLAIM, True, f"Each of {len(renewals)} renewals was about its own lock while it was held.")


def _after_release(timeline: Timeline, op: Op) -> Verdict | None:
    """The renewal was called for when its grant had been given back, as a whole, and the holder knew it."""
    for release in timeline.ops("release"):
        over = release.end is not None and release.end < op.seq and not release.args.get("inner")
        if over and release.outcome == "ok" and release.grant is not None and release.grant == op.grant:
            why = f"{op.node} renews {op.args['key']} at t = {op.call:.3f} s; it had released it at "
            return Verdict(CLAIM, False, f"{why}t = {release.ret:.3f} s.", (release.seq, op.seq))
    return None


def _not_its_own(timeline: Timeline, op: Op) -> Verdict | None:
    for applied in timeline.find("apply"):
        after = applied.data.get("keys", {}).get(op.args["key"])
        if after is None or timeline.origin(applied.seq) != op:
            continue
        before = _state(timeline, applied, op.args["key"])
        owner = timeline.origin(before["grant"]) if before is not None else None
        if owner is None or owner.grant != op.grant:
            whose = "nobody held" if before is None else f"{before['owner']} held"
            why = f"{op.node}'s renewal of its own {op.args['key']} met at t = {applied.t:.3f} s a lock that {whose}, "
            return Verdict(CLAIM, False, f"{why}and kept it until t = {_until(after)}.", (op.seq, applied.seq))
    return None


def _state(timeline: Timeline, at: Event, key: str) -> dict[str, Any] | None:
    """What the server had under this key just before an event of its own."""
    for event in reversed(timeline.events[: at.seq]):
        if event.node == at.node and key in event.data.get("keys", {}):
            state: dict[str, Any] | None = event.data["keys"][key]
            return state
    return None


def _until(state: Mapping[str, Any]) -> str:
    return "for ever" if state["until"] is None else f"{state['until']:.3f} s"
