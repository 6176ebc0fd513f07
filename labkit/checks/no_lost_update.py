"""P4: no update is lost. An update is a write that follows a read of the same resource by the same client or thread; it
is lost where another write came in between, for that one is overwritten by somebody who had not seen it.

The moments that count are when the resource applies, not when a client calls; where a recording does not show them, a
write between call and return leaves the question open. A write without a read before it is no update and is not judged.
"""

from __future__ import annotations

from ..timeline import Op, Timeline
from ..verdict import Verdict
from ._spans import applied, refused

CLAIM = "P4: no update is lost."
UNTESTED = "Nobody updated what another also read or wrote, so this run does not put the claim to the test."

LONG = 0.1  # seconds on the way, from which a sentence says both when a write was sent and when it was done


def check(timeline: Timeline) -> Verdict:
    writes = [op for op in timeline.ops("write") if not refused(timeline, op)]
    updates = [(read, op) for op in writes if (read := _read_before(timeline, op)) is not None]
    verdicts = [
        _between(timeline, read, write, other)
        for read, write in updates
        for other in writes
        if other.node != write.node and _same(other, write)
    ]
    for holds in (False, None):
        for verdict in verdicts:
            if verdict is not None and verdict.holds is holds:
                return verdict
    users = [*writes, *timeline.ops("read")]
    if not any(op.node != write.node and _same(op, write) for _, write in updates for op in users):
        return Verdict(CLAIM, None, UNTESTED)
    many = f"None of {len(updates)} updates" if len(updates) > 1 else "The one update has not"
    has = "has overwritten" if len(updates) > 1 else "overwritten"
    return Verdict(CLAIM, True, f"{many} {has} a write that it had not seen.")


def _between(timeline: Timeline, read: Op, write: Op, other: Op) -> Verdict | None:
    """The verdict if the other's write came, or may have come, between the read and the write; None if it did not."""
    base, seen, late = (applied(timeline, op) for op in (read, other, write))
    evidence = (read.seq, other.seq, write.seq)
    if base[1] < seen[0] and seen[1] < late[0]:
        return Verdict(CLAIM, False, _why(read, write, other, late[0][0]), evidence)
    if base[0] < seen[1] and seen[0] < late[1]:
        return Verdict(CLAIM, None, _why_open(write, other), evidence)
    return None


def _same(one: Op, other: Op) -> bool:
    return bool(one.args["resource"] == other.args["resource"])


def _read_before(timeline: Timeline, write: Op) -> Op | None:
    """What the write is based on: the latest read of the same resource that the writer has had an answer to."""
    reads = [
        op
        for op in timeline.ops("read")
        if op.node == write.node and _same(op, write)
        if op.outcome == "ok" and op.end is not None and op.end < write.seq
    ]
    return reads[-1] if reads else None


def _why(read: Op, write: Op, other: Op, done: float) -> str:
    when = f"at t = {write.call:.3f} s"
    if done - write.call > LONG:
        when = f"sent at t = {write.call:.3f} s and done at t = {done:.3f} s"
    why = f"{write.node}'s write of {write.args.get('value')} to {write.args['resource']} {when} "
    why += f"overwrites {other.node}'s of t = {other.call:.3f} s, "
    return f"{why}unseen: {write.node} had read at t = {read.call:.3f} s."


def _why_open(write: Op, other: Op) -> str:
    why = f"The recording does not show whether {other.node}'s write of {other.args.get('value')} to "
    return f"{why}{write.args['resource']} came between {write.node}'s read and its write at t = {write.call:.3f} s."
