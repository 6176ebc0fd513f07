"""What stands under the lanes: a legend of what occurs in this picture, the verdicts, and what is not shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from labkit.overlap import overlaps
from labkit.verdict import WORDS, Verdict
from labkit.viz.folding import LIMIT
from labkit.viz.lanes import WIDTH, Stage
from labkit.viz.palette import CARD, DANGER, DANGER_TEXT, GREY, INK, PAUSE, PAUSE_EDGE, mix
from labkit.viz.shapes import BAR, Box, Label, Line, Mark, Shape
from labkit.viz.words import width, wrap

SIZE, LINE = 7.0, 11.0
SWATCH = 14.0


def footer(stage: Stage, verdicts: Sequence[Verdict], missing: list[str], top: float) -> tuple[list[Shape], float]:
    """The shapes below `top`, and where the card ends."""
    shapes: list[Shape] = []
    x, y = 8.0, top + 6
    for sign, text in legend(stage):
        wide = SWATCH + 3 + width(text, SIZE)
        if x + wide > WIDTH - 8:
            x, y = 8.0, y + LINE
        shapes += [*_swatch(sign, x, y), Label(x + SWATCH + 3, y, text, SIZE, GREY)]
        x += wide + 12
    for text, color in [*_said(verdicts), *_notices(stage, missing)]:
        for n, line in enumerate(wrap(text, WIDTH - 24, SIZE + 0.5)):
            y += LINE
            shapes.append(Label(8 if n == 0 else 16, y, line, SIZE + 0.5, color))
    return shapes, y + 9


def legend(stage: Stage) -> Iterator[tuple[str, str]]:
    """Sign and meaning of what is in this picture, and of nothing else."""
    timeline = stage.timeline
    beliefs, outcomes = timeline.belief(), {op.outcome for op in timeline.ops()}
    if beliefs:
        yield "valid", "believes it holds, lease valid by its own clock"
    if any(not b.valid or b.valid[-1][1] < b.end for b in beliefs):
        yield "over", "believes it holds, lease over"
    if overlaps(timeline):
        yield "shade", "more than one believer"
    kinds = {e.kind for e in timeline}
    signs = (("ok", "dot", "done"), ("fail", "cross", "refused"), ("unknown", "hollow", "no answer"))
    yield from ((sign, text) for outcome, sign, text in signs if outcome in outcomes)
    if "expire" in kinds:
        yield "bar", "expires"
    if "promote" in kinds:
        yield "up", "becomes the primary"
    if "pause" in kinds:
        yield "pause", "paused"
    if "drop" in kinds:
        yield "lost", "packet lost"


def _swatch(sign: str, x: float, y: float) -> Iterator[Shape]:
    box = {
        "valid": (mix(GREY, 0.34), GREY, 1.0, False),
        "over": (CARD, GREY, 1.0, True),
        "shade": (DANGER, "none", 0.13, False),
        "pause": (PAUSE, PAUSE_EDGE, 1.0, False),
    }.get(sign)
    middle = x + SWATCH / 2
    if box:
        fill, edge, alpha, hatch = box
        yield Box(x, y - 4, x + SWATCH, y + 4, fill, edge, BAR, alpha, hatch)
    elif sign == "lost":
        yield Line(((x, y), (middle + 2, y)), GREY, 0.9)
        yield Mark(middle + 2, y, "cross", DANGER)
    else:
        yield Mark(middle, y, sign, {"cross": DANGER, "bar": INK, "up": INK}.get(sign, GREY))


def _said(verdicts: Sequence[Verdict]) -> Iterator[tuple[str, str]]:
    """Each broken claim in full, numbered as the rings are; the others are counted."""
    broken = [verdict for verdict in verdicts if verdict.holds is False]
    for number, verdict in enumerate(broken, 1):
        yield f"{number}  {WORDS[False]}: {verdict.claim} {verdict.why}", DANGER_TEXT
    hold, unknown = (sum(verdict.holds is value for verdict in verdicts) for value in (True, None))
    parts = [f"{hold} claim{'s hold' if hold != 1 else ' holds'}"] if hold else []
    parts += [f"{unknown} cannot be told from this run"] if unknown else []
    if parts:
        yield f"{', '.join(parts)}.", GREY


def _notices(stage: Stage, missing: list[str]) -> Iterator[tuple[str, str]]:
    if stage.shown.missing:
        yield (
            f"Cut after {LIMIT} events: {stage.shown.missing} later events are not shown; tell() has them all.",
            DANGER_TEXT,
        )
    if missing:
        yield f"{len(missing)} lanes are not shown: {', '.join(missing)}.", DANGER_TEXT
