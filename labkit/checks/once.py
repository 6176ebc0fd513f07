"""P6: no effect happens twice. An effect is what a client lets something outside `do`, such as a payment: asked for
twice, it happens twice, and no lock and no token of the lock's takes it back."""

from __future__ import annotations

from collections import defaultdict

from ..timeline import Op, Timeline
from ..verdict import Verdict
from ._spans import applied

CLAIM = "P6: no effect happens twice."


def check(timeline: Timeline) -> Verdict:
    done: dict[tuple[str, str], list[Op]] = defaultdict(list)
    for op in timeline.ops("do"):
        if op.outcome != "fail":
            done[op.args["resource"], str(op.args["value"])].append(op)
    for (resource, what), ops in done.items():
        sure = [op for op in ops if op.outcome == "ok" or applied(timeline, op)[0][0] >= op.call]
        if len(sure) > 1:
            when = f"at t = {sure[0].call:.3f} s for {sure[0].node} and at t = {sure[1].call:.3f} s for {sure[1].node}"
            return Verdict(CLAIM, False, f"{resource} has done {what} twice: {when}.", (sure[0].seq, sure[1].seq))
        if len(ops) > 1:
            why = f"{resource} was told twice to do {what}, and the recording does not show whether both arrived."
            return Verdict(CLAIM, None, why, tuple(op.seq for op in ops))
    if not done:
        return Verdict(CLAIM, None, "No effect was asked for in this run.")
    return Verdict(CLAIM, True, f"{len(done)} effect(s) happened, each of them once.")
