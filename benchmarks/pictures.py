"""Pictures: how long one takes to draw, and how long a reader waits for one after letting go of a slider.

Time is the processor's, for drawing waits for nothing. The panel runs here as in a kernel, from the turned knob to the
new picture in the widget's state (the run, its verdicts and the picture); what the browser adds is not in the figure.
"""

from __future__ import annotations

import time
from itertools import cycle

from .common import Figure, Row, interleave, summary

EVENTS = 60


def picture(rounds: int) -> list[Row]:
    """The SVG of a run of 60 events."""
    from labkit import play, viz
    from labkit.timeline import Timeline

    timeline = Timeline(play("gc-pause").events[:EVENTS])
    assert len(timeline) == EVENTS
    times = interleave(rounds, time.process_time, svg=lambda: viz.svg(timeline))["svg"]
    note = "the first of gc-pause, as SVG"
    return [summary("picture of 60 events", [s * 1000 for s in times], unit="ms", goal=100, note=note)]


def slider(rounds: int) -> list[Row]:
    """A slider moved: play, judge, draw."""
    from labkit import panels

    panel, pauses = panels.panel("gc-pause", "pause"), cycle((5.0, 12.0, 20.0, 35.0))
    times = interleave(rounds, time.process_time, move=lambda: panel.set(pause=next(pauses)))["move"]
    note = "gc-pause: run, verdicts and picture of all its events"
    return [summary("slider moved to picture", [s * 1000 for s in times], unit="ms", goal=150, note=note)]


FIGURES: dict[str, Figure] = {"picture": picture, "slider": slider}
