"""The lane of a client: above, when it believes that it holds a lock; below, what it does and what befalls it.

A bar is filled while the lease is valid by the client's own clock and hatched after that. Operations are thin bars
that end in a dot (done), a cross (refused) or an open circle (no answer).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from labkit.timeline import Belief, Op
from labkit.viz.clientwords import wants
from labkit.viz.happenings import calls, cut_off, deaths, last_moment, mine, paused
from labkit.viz.lanes import BAR_HEIGHT, LEFT, RIGHT, TEXT, Lane, Stage, side, texts, title
from labkit.viz.palette import CARD, DANGER, FAINT, INK, PAUSE, PAUSE_EDGE
from labkit.viz.shapes import BACK, Box, Label, Line, Mark, Shape
from labkit.viz.words import fit

PAD, GAP = 4.0, 8.0
SIGNS = {"crash": ("crash", INK), "restart": ("up", INK), "lost": ("wedge", DANGER), "clock": ("wedge", INK)}
ENDS = {"ok": "dot", "fail": "cross", "unknown": "hollow"}


def client_lane(stage: Stage, node: str) -> Lane:
    """Everything about one client (or one thread of it)."""
    rows = pack(stage, node)
    high = len(rows) * (BAR_HEIGHT + 2)
    labels, deep = texts(wants(stage, node), PAD + high, rising=True)
    base = PAD + high + deep + GAP
    middle = PAD + BAR_HEIGHT / 2
    shapes: list[Shape] = [title(node, middle if rows else base), side("does", base)]
    shapes += [side("believes", middle)] if rows else []
    for n, row in enumerate(rows):
        for belief in row:
            shapes += bar(stage, belief, PAD + n * (BAR_HEIGHT + 2))
    shapes += [*lifeline(stage, node, base), *doings(stage, node, base), *pauses(stage, node, base + GAP), *labels]
    return Lane(node, "client", base + GAP, base, tuple(shapes))


def pack(stage: Stage, node: str) -> list[list[Belief]]:
    """The beliefs of a node in as few rows as keep them apart. Who asks for no lock gets no row."""
    rows: list[list[Belief]] = [[]] if calls(stage, node) else []
    for belief in (b for b in stage.timeline.belief() if b.node == node):
        row = next((row for row in rows if not row or row[-1].end <= belief.start), None)
        if row is None:
            rows.append(row := [])
        row.append(belief)
    return rows


def bar(stage: Stage, belief: Belief, y: float) -> Iterator[Shape]:
    """One belief: filled where its lease is valid, hatched where not, and words where they fit."""
    color, tint = stage.inks.of(belief.node), stage.inks.tint(belief.node)
    start = stage.x(belief.start)
    valid = [(stage.x(first), stage.x(last)) for first, last in belief.valid]
    over = _rest(start, max(stage.x(belief.end), start + 2), valid)
    yield from (Box(x0, y, x1, y + BAR_HEIGHT, CARD, color, hatch=True) for x0, x1 in over)
    yield from (Box(x0, y, x1, y + BAR_HEIGHT, tint, color) for x0, x1 in valid)
    words = (f"believes it holds {belief.key}", f"holds {belief.key}", "holds it")
    yield from _inside(valid, y, words, stage.inks.text(belief.node), True)
    yield from _inside(over, y, ("lease over, still believes", "lease over", "over"), INK, False)


def _rest(x0: float, x1: float, valid: list[tuple[float, float]]) -> list[tuple[float, float]]:
    cuts = [x0, *(x for span in valid for x in span), x1]
    return [(a, b) for a, b in zip(cuts[::2], cuts[1::2], strict=True) if b > a]


def _inside(
    spans: list[tuple[float, float]], y: float, words: tuple[str, ...], color: str, bold: bool
) -> Iterator[Label]:
    """A text in the widest of these spans, if it fits; what is not bold stands on a plate."""
    for x0, x1 in sorted(spans, key=lambda span: span[0] - span[1])[:1]:
        text = fit(words, x1 - x0 - 6, TEXT, bold)
        if text:
            yield Label((x0 + x1) / 2, y + BAR_HEIGHT / 2, text, TEXT, color, bold, "center", plate=not bold)


def lifeline(stage: Stage, node: str, base: float) -> Iterator[Shape]:
    """A faint line while the client lives, dashed while it is dead; where its link is cut, a dashed red one above."""
    cuts = [LEFT, *(stage.x(e.t) for e in mine(stage, node, ("crash", "restart"))), RIGHT]
    for n, (x0, x1) in enumerate(pairwise(cuts)):
        yield Line(((x0, base), (x1, base)), FAINT, 1.2, dash=n % 2 == 1)
    for start, end, _ in cut_off(stage, node):
        yield Line(((stage.x(start), base - 4.5), (stage.x(end), base - 4.5)), DANGER, 1.6, dash=True)
    for event in mine(stage, node, tuple(SIGNS)):
        yield Mark(stage.x(event.t), base, *SIGNS[event.kind], 4.5 if event.kind == "crash" else 3.2)


def doings(stage: Stage, node: str, base: float) -> Iterator[Shape]:
    """A bar for each operation; one that never returned is hollow, and has no end but its caller's."""
    color = stage.inks.of(node)
    for op in calls(stage, node):
        x0, x1 = stage.x(op.call), stage.x(last_moment(stage, op))
        open_end = op.ret is None
        yield Box(x0, base - 2, max(x1, x0 + 2), base + 2, CARD if open_end else color, color, dash=open_end)
        if not (open_end and deaths(stage, op)):
            yield _end(op, x1, base, color)


def _end(op: Op, x: float, y: float, color: str) -> Mark:
    return Mark(x, y, ENDS[op.outcome], DANGER if op.outcome == "fail" else color)


def pauses(stage: Stage, node: str, height: float) -> Iterator[Shape]:
    for start, end in paused(stage, node):
        yield Box(stage.x(start), 1, stage.x(end), height - 1, PAUSE, PAUSE_EDGE, BACK)
