"""The unsafe overlap: a measured bracket above the lanes, and a shade through all of them."""

from __future__ import annotations

from collections.abc import Iterator

from labkit.overlap import Overlap, overlaps
from labkit.viz.lanes import LEFT, ROW_HEIGHT, TEXT, WIDTH, Stage
from labkit.viz.palette import DANGER, DANGER_TEXT
from labkit.viz.shapes import SHADE, Box, Label, Line, Shape
from labkit.viz.words import Want, stack
from labkit.wording import duration

SIZE = TEXT + 0.5


def overlap_strip(stage: Stage, top: float) -> tuple[list[Shape], float]:
    """A bracket over each span with more than one believer, its length written above; and where the lanes begin."""
    found = overlaps(stage.timeline)
    if not found:
        return [], top + 4
    placed = stack((_want(stage, o) for o in found), LEFT, WIDTH - 8, SIZE)
    bottom = top + (max(p.row for p in placed) + 1) * ROW_HEIGHT + 3
    shapes: list[Shape] = [
        Label(p.left, bottom - 3 - (p.row + 0.5) * ROW_HEIGHT, p.text, SIZE, DANGER_TEXT, True) for p in placed
    ]
    for o in found:
        x0, x1 = _span(stage, o)
        shapes.append(Line(((x0, bottom + 4), (x0, bottom), (x1, bottom), (x1, bottom + 4)), DANGER, 1.4))
    return shapes, bottom + 5


def _want(stage: Stage, o: Overlap) -> Want:
    lasted = duration(o.end - o.start)
    words = f"overlap{f' on {o.key}' if len(stage.timeline.keys) > 1 else ''} {lasted}"
    tail = "" if o.valid < 2 else ", both leases valid" if o.valid == 2 else f", {o.valid} leases valid"
    return Want(sum(_span(stage, o)) / 2, (words + tail, words, lasted), DANGER_TEXT, center=True, bold=True)


def _span(stage: Stage, o: Overlap) -> tuple[float, float]:
    x0 = stage.x(o.start)
    return x0, max(stage.x(o.end), x0 + 1.5)


def shades(stage: Stage, top: float, bottom: float) -> Iterator[Box]:
    """The same spans through all lanes."""
    for o in overlaps(stage.timeline):
        x0, x1 = _span(stage, o)
        yield Box(x0, top, x1, bottom, DANGER, layer=SHADE, alpha=0.13)
