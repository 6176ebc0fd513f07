"""Nobody releases another's lock: a key that a release removes was written by the acquisition that it ends. Another
acquisition of the same client counts as another's."""

from __future__ import annotations

from ..timeline import Timeline
from ..verdict import Verdict

CLAIM = "Nobody releases another's lock."


def check(timeline: Timeline) -> Verdict:
    releases = timeline.ops("release")
    for key in timeline.keys:
        for hold in timeline.truth(key):
            ending = timeline.events[hold.evidence[-1]]
            op = timeline.origin(ending.seq) if hold.why == "deleted" and ending.kind == "apply" else None
            if op is not None and op.name == "release" and op.args.get("grant") != hold.grant:
                why = f"{op.node}'s release at t = {ending.t:.3f} s deleted the lock {key} that {hold.owner} held"
                why += f" since t = {hold.start:.3f} s."
                return Verdict(CLAIM, False, why, (op.seq, ending.seq, hold.evidence[0]))
    if not releases:
        return Verdict(CLAIM, None, "Nobody released anything in this run.")
    return Verdict(CLAIM, True, f"Each of {len(releases)} releases touched its own lock or none.")
