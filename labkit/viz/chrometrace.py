"""A run as a Chrome trace: JSON that Perfetto (ui.perfetto.dev) and chrome://tracing open without conversion.

Each client and server is a process; belief, operations, truth and packets are its threads. Operations, belief and
truth are slices, faults are instants, and a flow leads from each packet sent to where it arrived. Times are
microseconds, as the format wants them; slices of one thread nest or follow each other, as it demands.
Format: "Trace Event Format", a document of the Chromium project.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from labkit.timeline import Event, Timeline
from labkit.viz.lanes import clients, servers

Row = dict[str, Any]
FAULTS = (
    "pause",
    "wake",
    "crash",
    "restart",
    "promote",
    "expire",
    "evict",
    "clock",
    "cut",
    "heal",
    "drop",
    "lost",
    "note",
)


@dataclass
class Tracks:
    """Numbers for processes (nodes) and threads (what is told of a node), given out in the order of their use."""

    pids: dict[str, int]
    tids: dict[tuple[int, str], int]

    def of(self, node: str, what: str) -> Row:
        """The place of a slice: a thread of a client is a further thread of the client's process."""
        process, _, thread = node.partition("/")
        pid = self.pids.setdefault(process, len(self.pids) + 1)
        name = f"{thread} {what}" if thread else what
        return {"pid": pid, "tid": self.tids.setdefault((pid, name), len(self.tids) + 1)}

    def names(self) -> Iterator[Row]:
        for node, pid in self.pids.items():
            yield {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "ts": 0, "args": {"name": node}}
            yield {"ph": "M", "name": "process_sort_index", "pid": pid, "tid": 0, "ts": 0, "args": {"sort_index": pid}}
        for (pid, name), tid in self.tids.items():
            yield {"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "ts": 0, "args": {"name": name}}


def chrome_trace(timeline: Timeline) -> str:
    """The trace as JSON text, the same for equal timelines."""
    tracks = Tracks({}, {})
    for node in (*clients(timeline), *servers(timeline)):
        tracks.of(node, "operations" if node in clients(timeline) else "packets")
    rows = [*_ops(timeline, tracks), *_beliefs(timeline, tracks), *_truth(timeline, tracks)]
    rows += [*_packets(timeline, tracks), *_faults(timeline, tracks)]
    rows.sort(key=lambda row: (row["ts"], -row.get("dur", 0)))
    about = {"story": timeline.story, "seed": timeline.seed, "tape": timeline.tape}
    trace = {"traceEvents": [*tracks.names(), *rows], "displayTimeUnit": "ms", "otherData": about}
    return json.dumps(trace, ensure_ascii=False, default=str, indent=None, separators=(",", ":")) + "\n"


def _micros(seconds: float) -> int:
    return round(seconds * 1_000_000)


def _slice(name: str, start: float, end: float, place: Row, **args: Any) -> Row:
    length = max(_micros(end) - _micros(start), 0)
    return {"ph": "X", "name": name, "cat": "run", "ts": _micros(start), "dur": length, **place, "args": args}


def _ops(timeline: Timeline, tracks: Tracks) -> Iterator[Row]:
    for op in timeline.ops():
        end = timeline.end if op.ret is None else op.ret
        place = tracks.of(op.node, "operations")
        yield _slice(
            f"{op.name}: {op.outcome}", op.call, end, place, **{"args": dict(op.args), "value": dict(op.value)}
        )


def _beliefs(timeline: Timeline, tracks: Tracks) -> Iterator[Row]:
    """Each belief is a slice; two at once, of one node in one lock, get a thread each."""
    free: dict[tuple[str, str, int], float] = {}
    for b in timeline.belief():
        row = next(n for n in range(len(timeline)) if free.get((b.node, b.key, n), b.start) <= b.start)
        free[b.node, b.key, row] = b.end
        place = tracks.of(b.node, f"believes it holds {b.key}{f' ({row + 1})' if row else ''}")
        yield _slice(f"{b.node} believes", b.start, b.end, place, valid=b.valid, why=b.why)


def _truth(timeline: Timeline, tracks: Tracks) -> Iterator[Row]:
    for h in timeline.truth():
        yield _slice(f"{h.owner}", h.start, h.end, tracks.of(h.server, h.key), value=h.value, until=h.until, why=h.why)


def _packets(timeline: Timeline, tracks: Tracks) -> Iterator[Row]:
    """A short slice where a packet leaves and where it arrives, and the flow between them."""
    for event in timeline.find("deliver"):
        if event.cause is None:
            continue
        start = timeline.events[event.cause]
        for end, ph, extra in ((start, "s", {}), (event, "f", {"bp": "e"})):
            place = tracks.of(end.node, "packets")
            yield _slice(end.name, end.t, end.t + 1e-6, place, seq=end.seq)
            name = {"name": "packet", "cat": "packet", "id": event.seq}
            yield {"ph": ph, **name, "ts": _micros(end.t), **place, **extra}


def _faults(timeline: Timeline, tracks: Tracks) -> Iterator[Row]:
    for event in timeline:
        if event.kind in FAULTS:
            yield _instant(event, tracks)


def _instant(event: Event, tracks: Tracks) -> Row:
    place = tracks.of(event.node, "faults")
    name = event.name if event.kind == "note" else f"{event.kind} {event.name}".strip()
    data = {"seq": event.seq, **event.data}
    return {"ph": "i", "s": "p", "name": name, "cat": "fault", "ts": _micros(event.t), **place, "args": data}
