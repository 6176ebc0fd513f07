"""The rows of a picture: who gets a lane, and what they have in common.

A lane is laid out as if it began at the top of the card; the layout moves it to its place. Within a lane, bars, marks
and texts have rows of their own, so that texts of different lanes can never meet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from labkit.overlap import executed, guards
from labkit.timeline import Event, Hold, Timeline
from labkit.viz.folding import Shown
from labkit.viz.palette import GREY, INK, Inks
from labkit.viz.shapes import Label, Shape
from labkit.viz.warp import Warp
from labkit.viz.words import Placed, Want, shorten, stack

WIDTH, LEFT, RIGHT = 684.0, 100.0, 668.0  # points: the card, and where time begins and ends
BAR_HEIGHT, ROW_HEIGHT, TEXT = 13.0, 10.0, 7.5
MAX_LANES = 16


@dataclass(frozen=True)
class Stage:
    """What every lane needs to know: the run as drawn, the scale of time and the colours."""

    shown: Shown
    x: Warp

    @property
    def timeline(self) -> Timeline:
        return self.shown.timeline

    @cached_property
    def clients(self) -> tuple[str, ...]:
        return clients(self.timeline)

    @cached_property
    def inks(self) -> Inks:
        return Inks(self.clients)

    def of(self, node: str) -> Iterator[Event]:
        return (e for e in self.timeline if e.node == node and e.seq not in self.shown.hidden)


@dataclass(frozen=True, slots=True)
class Lane:
    """name: its node, or the resource.  base: where packets leave and arrive.  shapes: as if the lane began at 0."""

    name: str
    kind: str
    height: float
    base: float
    shapes: tuple[Shape, ...]
    top: float = 0.0


def clients(timeline: Timeline) -> tuple[str, ...]:
    """The nodes that call operations or that something happens to, by name, so that A has its colour in every picture;
    threads next to their client."""
    other, quiet = set(servers(timeline)), ("cut", "heal")
    nodes = dict.fromkeys(e.node for e in timeline if e.node not in other and e.kind not in quiet)
    nodes |= dict.fromkeys(op.node for op in timeline.ops())
    return tuple(sorted(nodes, key=lambda node: (_parts(node.split("/")[0]), node.count("/"))))


def servers(timeline: Timeline) -> tuple[str, ...]:
    """The nodes that execute commands or own keys, and those that packets are sent to, in the order in which they
    appear; n1, n2, … stand together."""
    callers = {op.node for op in timeline.ops()}
    found = (e.node if e.kind in ("apply", "expire", "evict") or e.data.get("keys") else _target(e) for e in timeline)
    nodes = list(dict.fromkeys(node for node in found if node and node not in callers))
    first = {_parts(node)[0]: n for n, node in reversed(list(enumerate(nodes)))}
    return tuple(sorted(nodes, key=lambda node: (first[_parts(node)[0]], _parts(node)[1])))


def _parts(name: str) -> tuple[str, int]:
    """A name without its number, and the number: n2 comes before n10."""
    stem = name.rstrip("0123456789")
    return stem, int(name[len(stem) :] or 0)


def _target(event: Event) -> str:
    return str(event.data.get("to", "")) if event.kind == "send" else ""


def resources(timeline: Timeline) -> tuple[tuple[str, str], ...]:
    """Server and key of everything that a "write" was meant for."""
    homes: dict[str, str] = {}
    for op in timeline.ops("write"):
        place = executed(timeline, op)
        key = str(op.args.get("resource", "the resource"))
        homes[key] = place.node if place else homes.get(key, "")
    return tuple((home, key) for key, home in homes.items())


def stored(timeline: Timeline, key: str) -> list[Hold]:
    """What a resource held over time, whoever wrote it: the key of its name, or else the first one that a write to it
    changed."""
    named = list(timeline.truth(key))
    writes = {op.seq for op in timeline.ops("write") if str(op.args.get("resource")) == key}
    written = [h for h in timeline.truth() if h.grant in writes]
    return named or [h for h in written if h.key == written[0].key]


def lock_keys(timeline: Timeline, server: str) -> tuple[str, ...]:
    """The keys of a server that stand for a lock, in the order in which they were first written."""
    keys = dict.fromkeys(h.key for h in timeline.truth() if h.server == server)
    return tuple(key for key in keys if guards(timeline, key))


def texts(wants: Iterable[Want], top: float, rows: int = 3, rising: bool = False) -> tuple[list[Label], float]:
    """Labels in rows below `top`, and the height that they take. rising: the rows fill from the lowest up."""
    placed = stack(wants, LEFT - 2, RIGHT + 8, TEXT, rows)
    used = max((p.row for p in placed), default=-1) + 1
    return [_label(p, top, used - 1 - p.row if rising else p.row) for p in placed], used * ROW_HEIGHT


def _label(p: Placed, top: float, row: int) -> Label:
    return Label(p.left, top + (row + 0.5) * ROW_HEIGHT, p.text, TEXT, p.want.color, p.want.bold, plate=True)


def side(text: str, y: float) -> Label:
    """What a row of a lane is, in the column of names."""
    return Label(LEFT - 7, y, shorten(text, 50.0, 6.5), 6.5, GREY, align="right")


def title(text: str, y: float, room: float = 42.0) -> Label:
    """The name of a lane; a long one is set smaller, a very long one is cut."""
    size = 8.5 if len(text) <= room / 6 else 7.5
    return Label(8.0, y, shorten(text, room, size, True), size, INK, True)
