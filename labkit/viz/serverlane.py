"""The lanes of a server: for each lock key, whom the server says it belongs to; for each resource, who wrote it.

Truth is drawn in the owner's colour with the owner's name and the moment of expiry. A write that was accepted is a
dot on the resource, one that was refused a cross, one without an answer an open circle. A write whose writer had let
its lease run out says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise, zip_longest

from labkit.overlap import executed, guards, lease_over
from labkit.timeline import Event, Hold, Op
from labkit.viz.clientwords import befell
from labkit.viz.lanes import BAR_HEIGHT, LEFT, RIGHT, TEXT, Lane, Stage, lock_keys, side, stored, texts, title
from labkit.viz.palette import DANGER, DANGER_TEXT, FAINT, GREY, INK
from labkit.viz.shapes import Box, Label, Line, Mark, Shape
from labkit.viz.words import Want, fit
from labkit.wording import moment

PAD = 9.0
ENDS = {"ok": "dot", "fail": "cross", "unknown": "hollow"}
GONE = ("expire", "evict")
SIGNS = {
    "crash": ("crash", INK),
    "restart": ("up", INK),
    "promote": ("up", INK),
    "clock": ("wedge", INK),
    "expire": ("bar", INK),
    "evict": ("bar", DANGER),
}


def server_lane(stage: Stage, node: str) -> Lane:
    """The line at which packets arrive, what befalls the server, and a band for each lock key."""
    labels, deep = texts(_wants(stage, node), PAD + 3)
    shapes: list[Shape] = [title(node, PAD, 84), *_lifeline(stage, node)]
    shapes += [Mark(stage.x(e.t), PAD, *SIGNS[e.kind], 4.0) for e in _events(stage, node)]
    y = PAD + 6 + deep
    for key in lock_keys(stage.timeline, node):
        shapes += [side(key, y + BAR_HEIGHT / 2), _free(y)]
        shapes += [shape for hold in merged(stage, node, key) for shape in band(stage, hold, y)]
        y += BAR_HEIGHT + 3
    return Lane(node, "server", y + 3, PAD, (*shapes, *labels))


def _lifeline(stage: Stage, node: str) -> Iterator[Line]:
    """A faint line, dashed while the server is down."""
    cuts = [LEFT, *(stage.x(e.t) for e in _events(stage, node) if e.kind in ("crash", "restart")), RIGHT]
    down = False
    for event, (x0, x1) in zip_longest(
        (e for e in _events(stage, node) if e.kind in ("crash", "restart")), pairwise(cuts)
    ):
        yield Line(((x0, PAD), (x1, PAD)), FAINT, 1.2, dash=down)
        down = event is not None and event.kind == "crash"


def _events(stage: Stage, node: str) -> list[Event]:
    """What befalls a server; a crash that a restart follows in the same moment is told by the restart alone."""
    found = [e for e in stage.of(node) if e.kind in SIGNS and (e.kind not in GONE or guards(stage.timeline, e.name))]
    at_once = {
        e.cause
        for e in found
        if e.kind == "restart" and e.cause is not None and stage.timeline.events[e.cause].t == e.t
    }
    return [e for e in found if e.seq not in at_once]


def _free(y: float) -> Line:
    middle = y + BAR_HEIGHT / 2
    return Line(((LEFT, middle), (RIGHT, middle)), FAINT, 0.8, dash=True)


def _wants(stage: Stage, node: str) -> Iterator[Want]:
    for event in _events(stage, node):
        danger = event.kind in ("evict", "restart", "crash")
        yield Want(stage.x(event.t) - 2, _event_words(event), DANGER_TEXT if danger else INK, 0 if danger else 1)


def _event_words(event: Event) -> tuple[str, ...]:
    if event.kind == "expire":
        return (f"{event.name} expires", "expires")
    if event.kind == "evict":
        return (f"{event.name} evicted", "evicted")
    if event.kind == "restart":
        gone = any(state is None for state in event.data.get("keys", {}).values())
        return ("restart, data lost" if gone else "restart",)
    return ("down",) if event.kind == "crash" else befell(event)


def merged(stage: Stage, node: str, key: str) -> list[Hold]:
    """The holds of a key; what a renewal cut in two is one again, with the later expiry."""
    joined: list[list[Hold]] = []
    for hold in stage.timeline.truth(key):
        if hold.server == node:
            same = joined and joined[-1][-1].why == "renewed" and joined[-1][-1].end == hold.start
            joined[-1].append(hold) if same else joined.append([hold])
    return [_join(holds) for holds in joined]


def _join(holds: list[Hold]) -> Hold:
    first, last = holds[0], holds[-1]
    return Hold(
        first.server, first.key, first.value, first.owner, first.grant, first.start, last.end, last.until, last.why, ()
    )


def band(stage: Stage, hold: Hold, y: float) -> Iterator[Shape]:
    """A key's owner over a span of time."""
    x0, x1 = stage.x(hold.start), stage.x(hold.end)
    yield Box(x0, y, max(x1, x0 + 2), y + BAR_HEIGHT, stage.inks.tint(hold.owner), stage.inks.of(hold.owner))
    until = "for ever" if hold.until is None else f"until {moment(hold.until)} s"
    words = (f"{hold.owner} {until}", f"{hold.owner} {until}".removesuffix(" s"), hold.owner)
    text = fit(words, x1 - x0 - 4, TEXT, True)
    if text:
        color = stage.inks.text(hold.owner)
        yield Label((x0 + x1) / 2, y + BAR_HEIGHT / 2, text, TEXT, color, True, "center")


def resource_lane(stage: Stage, server: str, key: str) -> Lane:
    """What is stored over time, and each attempt to change it."""
    writes = [op for op in stage.timeline.ops("write") if str(op.args.get("resource")) == key]
    placed = [(stage.x(_moment(stage, op)), op) for op in writes]
    labels, deep = texts((_write_words(stage, x, op) for x, op in placed), PAD + BAR_HEIGHT - 1)
    middle = PAD + BAR_HEIGHT / 2 - 3
    shapes: list[Shape] = [title(key, middle, 84), _free(middle - BAR_HEIGHT / 2)]
    accepted = [(_moment(stage, op), op.node) for op in writes if op.outcome == "ok"]
    for part in (part for hold in stored(stage.timeline, key) for part in _parts(hold, accepted)):
        shapes += _stored(stage, part, middle, [x for x, op in placed if op.outcome != "ok"])
    for x, op in placed:
        shapes.append(
            Mark(x, middle, ENDS[op.outcome], DANGER if op.outcome == "fail" else stage.inks.of(op.node), 4.0)
        )
    return Lane(key, "resource", PAD + BAR_HEIGHT + deep + 2, middle, (*shapes, *labels))


def _parts(hold: Hold, accepted: list[tuple[float, str]]) -> Iterator[Hold]:
    """A value cut at each accepted write of the same value, which is another's from then on."""
    inside = sorted((t, node) for t, node in accepted if hold.start < t < hold.end)
    starts = [(hold.start, hold.owner), *inside]
    for (start, owner), end in zip(starts, [*(t for t, _ in inside), hold.end], strict=True):
        yield replace(hold, start=start, end=end, owner=owner)


def _stored(stage: Stage, hold: Hold, middle: float, crossed: list[float]) -> Iterator[Shape]:
    x0, x1 = stage.x(hold.start), stage.x(hold.end)
    yield Box(x0, middle - 4.5, max(x1, x0 + 2), middle + 4.5, stage.inks.tint(hold.owner), stage.inks.of(hold.owner))
    room = min([x - 5 for x in crossed if x > x0] + [x1 - 2]) - (x0 + 7)
    text = fit((f"{hold.value} by {hold.owner}", hold.value), room, TEXT)
    if text:
        yield Label(x0 + 7, middle, text, TEXT, stage.inks.text(hold.owner))


def _moment(stage: Stage, op: Op) -> float:
    """When the resource saw the write: as it was executed, else when the answer came or the call was made."""
    seen = executed(stage.timeline, op)
    return seen.t if seen else op.call if op.ret is None else op.ret


def _write_words(stage: Stage, x: float, op: Op) -> Want:
    name = f"{op.node} writes {op.args.get('value')}"
    few = f"{op.node}: {op.args.get('value')}"
    if op.outcome == "fail":
        return Want(x - 2, (f"{op.node}'s {op.args.get('value')} refused", "refused"), DANGER_TEXT, 1, bold=True)
    if op.outcome == "unknown":
        return Want(x - 2, (f"{name}, no answer", f"{few}, ?"), DANGER_TEXT, 1)
    if lease_over(stage.timeline, op):
        return Want(x - 2, (f"{name}, lease over", f"{few}, late"), DANGER_TEXT, 0, bold=True)
    return Want(x - 2, (name, op.node), GREY, 2)
