"""The time axis: a tick at the moments that matter most, as many as have room, each with its true time."""

from __future__ import annotations

from labkit.timeline import Event
from labkit.viz.lanes import LEFT, RIGHT, WIDTH, Stage
from labkit.viz.palette import CARD, FAINT, GREY, INK
from labkit.viz.shapes import Label, Line, Shape, clash
from labkit.wording import moment

RANKS = {"expire": 1, "evict": 1, "wake": 1, "pause": 1, "crash": 1, "restart": 1, "ok": 2, "clock": 1, "invoke": 3}
SIZE = 7.0


def axis(stage: Stage, top: float, bottom: float) -> tuple[list[Shape], float]:
    """Ticks, their faint lines through the lanes from `top` to `bottom`, break marks; and where the axis ends."""
    milli = stage.timeline.end < 1.0
    labels = ticks(stage, bottom + 11, milli)
    shapes: list[Shape] = [Line(((LEFT, bottom), (RIGHT + 6, bottom)), GREY, 0.8)]
    for x, label in labels:
        shapes += [Line(((x, top), (x, bottom)), FAINT, 0.5), Line(((x, bottom), (x, bottom + 3.5)), GREY, 0.8), label]
    for x in stage.x.breaks:
        shapes.append(Line(((x - 2, bottom), (x + 2, bottom)), CARD, 2.5))
        shapes += [Line(((x + d - 2, bottom + 5), (x + d + 2, bottom - 5)), INK, 1.0) for d in (-2, 2)]
    unit = "time in ms" if milli else "time in s"
    shapes.append(Label(8, bottom + 9, unit if stage.x.to_scale else f"{unit}, not to scale", 6.5, GREY))
    return shapes, bottom + 20


def ticks(stage: Stage, y: float, milli: bool) -> list[tuple[float, Label]]:
    """The labels that have room, the important first; no two say the same."""
    kept: list[tuple[float, Label]] = []
    for t in sorted(_candidates(stage), key=lambda item: item[1:]):
        x = stage.x(t[0])
        text = moment(t[0] * 1000) if milli else moment(t[0])
        label = Label(x, y, text, SIZE, INK, align="center")
        label = label if label.rect[2] < WIDTH - 4 else Label(WIDTH - 4, y, text, SIZE, INK, align="right")
        gap = 5 if t[1] < 2 else 12
        wide = (label.rect[0] - gap, label.rect[1], label.rect[2] + gap, label.rect[3])
        if not any(clash(wide, other.rect) or other.text == text for _, other in kept):
            kept.append((x, label))
    return kept


def _candidates(stage: Stage) -> set[tuple[float, int, float]]:
    """Times with their rank: start and end, faults and expiries, answers, calls, the rest."""
    events = stage.shown.events()
    found = {(e.t, _rank(e), e.t) for e in events}
    return found | {(0.0, 0, 0.0), (stage.timeline.end, 0, stage.timeline.end)}


def _rank(event: Event) -> int:
    return 1 if event.kind == "ok" and event.name == "acquire" else RANKS.get(event.kind, 4)
