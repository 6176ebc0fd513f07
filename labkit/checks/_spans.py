"""What several checks ask of a timeline: which spans overlap, and whether anybody wanted what another had."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from math import inf

from ..timeline import Belief, Hold, Op, Timeline

Span = tuple[float, float]
Moment = tuple[float, int]  # seconds, and the event that shows it: two in the same microsecond still have an order


def overlap(one: Iterable[Span], other: Iterable[Span]) -> Span | None:
    """The first stretch that both cover, if any."""
    both = [(max(a, c), min(b, d)) for a, b in one for c, d in other if max(a, c) < min(b, d)]
    return min(both, default=None)


def pairs(timeline: Timeline) -> Iterator[tuple[Belief, Belief]]:
    """Each two beliefs in the same lock."""
    for key in timeline.keys:
        yield from combinations(timeline.belief(key), 2)


def acquisition(timeline: Timeline, hold: Hold) -> Op | None:
    """The acquisition that a key's value goes back to, also where an extension wrote it anew; None for a stranger's."""
    op = timeline.origin(hold.grant)
    return timeline.origin(op.grant) if op is not None else None


def _of(timeline: Timeline, hold: Hold) -> int | None:
    op = acquisition(timeline, hold)
    return op.seq if op is not None else None


def contended(timeline: Timeline) -> bool:
    """Did anybody ask for a lock that was, or was believed to be, another acquisition's at that time?"""
    for op in timeline.ops("acquire"):
        asked = (op.call, timeline.end if op.ret is None else op.ret)
        held = [(b.start, b.end) for b in timeline.belief(op.args["key"]) if b.grant != op.grant]
        held += [(h.start, h.end) for h in timeline.truth(op.args["key"]) if _of(timeline, h) != op.grant]
        if any(start <= asked[1] and asked[0] < end for start, end in held):
            return True
    return False


UNTESTED = "Nobody asked for a lock that another had, so this run does not put the claim to the test."


def applied(timeline: Timeline, write: Op) -> tuple[Moment, Moment]:
    """When the resource took the write: at the earliest and at the latest; from -inf on if it may not have at all."""
    executed = [e for e in timeline.find("apply") if timeline.origin(e.seq) == write]
    if executed:  # of several commands, the last that changed a key
        shown = [e for e in executed if e.data.get("keys")] or executed
        moment = shown[-1].t, shown[-1].seq
        return moment, moment
    earliest, latest = write.call, timeline.end if write.ret is None else write.ret
    if write.outcome == "unknown":
        seen = any(timeline.origin(e.seq) == write for e in timeline.find("send")) and timeline.find("apply")
        earliest, latest = -inf, -inf if seen else latest  # the servers are recorded, and none has got it
    return (earliest, write.seq), (latest, len(timeline))


def refused(timeline: Timeline, write: Op) -> bool:
    """Whether the resource did not take the write: its holder was told so, or would have been, had the reply not been
    lost. A script that refuses answers 0; a copy that comes later may be refused where the first was taken."""
    replies = [str(e.data.get("reply")) for e in timeline.find("apply") if timeline.origin(e.seq) == write]
    answers = [reply for reply in replies if not reply.startswith("-")]
    return write.outcome == "fail" or (bool(answers) and set(answers) == {":0"})
