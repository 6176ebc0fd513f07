"""Circles around the events that a broken verdict rests on, numbered like the verdicts under the picture."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from labkit.verdict import Verdict
from labkit.viz.lanes import Lane, Stage
from labkit.viz.palette import DANGER, DANGER_TEXT
from labkit.viz.shapes import Label, Mark, Shape, clash

RADIUS = 6.0


def rings(stage: Stage, lanes: Sequence[Lane], verdicts: Sequence[Verdict], taken: list[Label]) -> Iterator[Shape]:
    """A ring for each piece of evidence that is drawn, its number beside it where there is room."""
    at = {lane.name: lane.top + lane.base for lane in reversed(lanes) if lane.kind != "resource"}
    taken = list(taken)
    for (x, y), numbers in _spots(stage, at, verdicts).items():
        yield Mark(x, y, "ring", DANGER, RADIUS)
        label = _beside(x, y, ",".join(map(str, numbers)), taken)
        if label:
            taken.append(label)
            yield label


def _spots(stage: Stage, at: dict[str, float], verdicts: Sequence[Verdict]) -> dict[tuple[float, float], list[int]]:
    spots: dict[tuple[float, float], list[int]] = defaultdict(list)
    broken = [verdict for verdict in verdicts if verdict.holds is False]
    for number, verdict in enumerate(broken, 1):
        for seq in verdict.evidence:
            if seq < len(stage.timeline) and seq not in stage.shown.hidden:
                event = stage.timeline.events[seq]
                if event.node in at and number not in spots[stage.x(event.t), at[event.node]]:
                    spots[stage.x(event.t), at[event.node]].append(number)
    return {place: numbers for place, numbers in sorted(spots.items()) if numbers}


def _beside(x: float, y: float, text: str, taken: list[Label]) -> Label | None:
    for dx, dy, align in ((7, -6, "left"), (-7, -6, "right"), (7, 6, "left"), (-7, 6, "right")):
        label = Label(x + dx, y + dy, text, 7.0, DANGER_TEXT, True, align)  # type: ignore[arg-type]
        if not any(clash(label.rect, other.rect) for other in taken):
            return label
    return None
