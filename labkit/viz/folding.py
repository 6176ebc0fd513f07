"""Which events a picture shows, so that a hundred refused tries do not bury the one that matters.

Of a row of at least five commands of one client that changed nothing, only the first and the last are drawn, and the
count stands between them. What is still too long is cut at the end. Nothing is left out in silence: the number of
tries is written into the lane, the number of events cut is written under the picture.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import groupby

from labkit.timeline import Event, Timeline

LIMIT = 300  # events drawn
ROW = 5  # tries in a row that are folded


@dataclass(frozen=True, slots=True)
class Fold:
    """`count` requests of `node` that are not drawn one by one, between the times `start` and `end`. tries: they are
    refused acquisitions; else they belong to another call and changed nothing."""

    node: str
    start: float
    end: float
    count: int
    tries: bool


@dataclass(frozen=True, slots=True)
class Shown:
    """The run as far as it is drawn; `hidden` are events that are folded, `missing` counts those that are cut."""

    timeline: Timeline
    hidden: frozenset[int]
    folds: tuple[Fold, ...]
    missing: int

    def events(self) -> list[Event]:
        return [e for e in self.timeline if e.seq not in self.hidden]


def choose(timeline: Timeline, limit: int = LIMIT) -> Shown:
    """What of a run is drawn: everything, if it is short."""
    tries = _tries(timeline)
    runs = [run for run in _quiet_runs(timeline, tries) if len(run) >= ROW]
    hidden = _hidden(timeline, tries, [seq for run in runs for seq in run[1:-1]])
    visible = [e.seq for e in timeline if e.seq not in hidden]
    cut = visible[limit] if len(visible) > limit else len(timeline)
    shown = Timeline(timeline.events[:cut], timeline.seed, timeline.tape, timeline.story)
    folds = tuple(_fold(timeline, [seq for seq in run[1:-1] if seq < cut]) for run in runs if run[1] < cut)
    return Shown(shown, frozenset(hidden), folds, len(timeline) - cut)


def _tries(timeline: Timeline) -> dict[int, list[Event]]:
    """Each request of a client with all that follows from it; a call without any packet stands for itself."""
    roots: dict[int, int] = {}
    tries: dict[int, list[Event]] = defaultdict(list)
    for event in timeline:
        root = event.seq if event.kind == "send" else roots.get(-1 if event.cause is None else event.cause)
        if root is not None:
            roots[event.seq] = root
            tries[root].append(event)
    busy = {timeline.events[root].cause for root in tries}
    for op in timeline.ops("acquire"):
        if op.outcome == "fail" and op.seq not in busy:
            tries[op.seq].append(timeline.events[op.seq])
    return dict(sorted(tries.items()))


def _quiet_runs(timeline: Timeline, tries: dict[int, list[Event]]) -> list[list[int]]:
    """Rows of tries, one after the other by one node, with the same command, none of which changed or lost anything."""
    by_node: dict[str, list[int]] = defaultdict(list)
    for root in tries:
        by_node[timeline.events[root].node].append(root)
    runs = []
    for roots in by_node.values():
        for command, row in groupby(roots, key=lambda root: _quiet(timeline.events[root], tries[root])):
            if command:
                runs.append(list(row))
    return runs


def _quiet(first: Event, events: list[Event]) -> str:
    """The command's first word if it changed nothing and got its answer, else nothing."""
    changed = any(e.kind == "drop" or e.data.get("keys") for e in events)
    return "" if changed else first.name.split(" ")[0]


def _hidden(timeline: Timeline, tries: dict[int, list[Event]], folded: list[int]) -> set[int]:
    hidden = {event.seq for root in folded for event in tries[root]}
    packets = defaultdict(list)
    for root in tries:
        packets[timeline.events[root].cause].append(root)
    for op in timeline.ops("acquire"):
        sent = packets.get(op.seq, [op.seq])
        if op.outcome == "fail" and all(root in hidden for root in sent):
            hidden |= {op.seq} | ({op.end} if op.end is not None else set())
    return hidden


def _fold(timeline: Timeline, run: list[int]) -> Fold:
    first, last = timeline.events[run[0]], timeline.events[run[-1]]
    op = timeline.origin(first.seq)
    tries = first.kind == "invoke" or (op is not None and op.name == "acquire")
    return Fold(first.node, first.t, last.t, len(run), tries)
