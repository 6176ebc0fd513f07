"""What belief and truth mean together: who believed at the same time, and what was done after a lease had ended.

Derived from a timeline and used by its words and its pictures, so that both measure the same. It does not judge.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from labkit.timeline import Belief, Event, Op, Timeline


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two or more grants of `key` are believed in from `start` to `end` (seconds).

    nodes: the believers, each once.  valid: how many leases at most had not run out by their holders' own clocks.
    """

    key: str
    nodes: tuple[str, ...]
    start: float
    end: float
    valid: int


def overlaps(timeline: Timeline) -> tuple[Overlap, ...]:
    """The spans in which more than one grant of a lock is believed in, for each lock, in order of their start. Where
    one belief ends in the very moment in which the next begins, there is none."""
    found = (o for key in timeline.keys for o in _overlaps(key, timeline.belief(key)))
    return tuple(sorted(found, key=lambda o: (o.start, o.key)))


def _overlaps(key: str, beliefs: tuple[Belief, ...]) -> Iterator[Overlap]:
    cuts = sorted({edge for b in beliefs for edge in (b.start, b.end)})
    crowd: list[tuple[float, float]] = []
    for start, end in itertools.pairwise(cuts):
        if sum(b.start <= start and end <= b.end for b in beliefs) < 2:
            continue
        if crowd and crowd[-1][1] == start:
            start = crowd.pop()[0]
        crowd.append((start, end))
    for start, end in crowd:
        inside = [b for b in beliefs if b.start < end and start < b.end]
        yield Overlap(key, tuple(dict.fromkeys(b.node for b in inside)), start, end, _valid(inside, start, end))


def _valid(beliefs: list[Belief], start: float, end: float) -> int:
    spans = [(max(first, start), min(last, end), b.grant) for b in beliefs for first, last in b.valid]
    spans = [span for span in spans if span[0] < span[1]]
    return max((len({grant for first, last, grant in spans if first <= at < last}) for at, _, _ in spans), default=0)


def executed(timeline: Timeline, op: Op) -> Event | None:
    """The last execution of a command of `op` on a server, or None if none is recorded."""
    found = [e for e in timeline.find("apply") if timeline.origin(e.seq) == op]
    return found[-1] if found else None


def lease_over(timeline: Timeline, op: Op) -> tuple[str, float] | None:
    """For what a client did under a lock although its lease had ended by its own clock: the lock, and when it ended.

    None if the lease was valid when the command was executed (or, if that is not recorded, when the answer came), and
    None for what was not done under any lock.
    """
    last = executed(timeline, op)
    at = last.t if last else op.call if op.ret is None else op.ret
    grant = op.args.get("grant")
    started = [b for b in timeline.belief() if b.start <= at]
    under = [b for b in started if b.grant == grant] or [b for b in started if b.node == op.node and at <= b.end]
    if not under or any(first <= at < end for b in under for first, end in b.valid):
        return None
    return under[-1].key, max((end for _, end in under[-1].valid), default=under[-1].start)


def guards(timeline: Timeline, key: str) -> bool:
    """Whether a server's key stands for a lock: it is one that somebody asked for, or an acquisition wrote it with a
    TTL. (Libraries prefix their keys, and keep others beside them: counters, lists that wake up those who wait. What
    stands beside a key of a lock's own name, as a receipt of its release, is no second lock.)"""
    if key in timeline.keys:
        return True
    if not timeline.keys:  # where nobody used a lock, every key is worth a look that has no lane of its own
        return all(op.args.get("resource") != key for op in timeline.ops())
    if any(name in key and timeline.truth(name) for name in timeline.keys):
        return False
    writers = (timeline.origin(h.grant) for h in timeline.truth(key) if h.until is not None)
    return any(op is not None and op.name == "acquire" for op in writers)
