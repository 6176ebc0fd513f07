"""From a run to a picture as plain data: every painter paints this, so that all pictures of a run agree.

Top to bottom: the sentence that sums it up, the measured overlaps, a lane for each client, server and resource, the
time axis, a legend of what occurs, and notices of what is not shown. Equal timelines give equal pictures. Texts never
overlap: each kind has rows of its own, and within a row a text that finds no room is shortened or left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from labkit.overlap import overlaps
from labkit.telling import summary
from labkit.timeline import Event, Timeline
from labkit.verdict import Verdict
from labkit.viz.axis import axis
from labkit.viz.brackets import overlap_strip, shades
from labkit.viz.clientlane import client_lane
from labkit.viz.folding import choose
from labkit.viz.footer import footer
from labkit.viz.lanes import LEFT, MAX_LANES, RIGHT, WIDTH, Lane, Stage, resources, servers
from labkit.viz.palette import FAINT, INK, PALE
from labkit.viz.rings import rings
from labkit.viz.serverlane import resource_lane, server_lane
from labkit.viz.shapes import BACK, Arrow, Box, Label, Line, Mark, Picture, Shape
from labkit.viz.warp import Warp
from labkit.viz.words import wrap

SHORT = 6.5  # points by which a lost packet misses its goal: in the margin of the lane, where no text stands


def layout(timeline: Timeline, verdicts: Sequence[Verdict] = ()) -> Picture:
    """The picture of a run. verdicts: the evidence of those that are broken is circled and numbered."""
    shown = choose(timeline)
    stage = Stage(shown, Warp.over(_moments(shown.events(), shown.timeline), LEFT + 6, RIGHT - 6))
    text = headline(timeline, verdicts)
    head = heading(timeline, text)
    strip, y = overlap_strip(stage, 8 + 12.0 * len(head))
    lanes, missing = place(all_lanes(stage), y)
    bottom = lanes[-1].top + lanes[-1].height if lanes else y
    shapes: list[Shape] = [*head, *strip, *shades(stage, y, bottom)]
    for n, lane in enumerate(lanes):
        shapes += [*_ground(lane, n), *(shape.down(lane.top) for shape in lane.shapes)]
    ticks, y = axis(stage, lanes[0].top if lanes else y, bottom)
    notes, y = footer(stage, verdicts, missing, y)
    circles = rings(stage, lanes, verdicts, [s for s in (*shapes, *ticks) if isinstance(s, Label)])
    return _picture([*shapes, *ticks, *notes, *circles], tuple(arrows(stage, lanes)), y, text)


def _picture(shapes: list[Shape], packets: tuple[Arrow, ...], height: float, alt: str) -> Picture:
    boxes = tuple(sorted((s for s in shapes if isinstance(s, Box)), key=lambda box: box.layer))
    lines = tuple(s for s in shapes if isinstance(s, Line))
    marks = tuple(s for s in shapes if isinstance(s, Mark))
    return Picture(WIDTH, height, boxes, lines, packets, marks, tuple(s for s in shapes if isinstance(s, Label)), alt)


def _moments(events: Iterable[Event], timeline: Timeline) -> set[float]:
    """What must be told apart on the axis: events, the ends of belief and truth, deadlines."""
    times = {e.t for e in events} | {0.0, timeline.end}
    for belief in timeline.belief():
        times |= {belief.start, belief.end, *(t for span in belief.valid for t in span)}
    return times


def headline(timeline: Timeline, verdicts: Sequence[Verdict]) -> str:
    """What the picture shows: an overlap of beliefs if there is one, else what broke, else what the run comes to."""
    broken = next((v for v in verdicts if v.holds is False), None)
    if broken is None or overlaps(timeline):
        return summary(timeline)
    return f"{broken.claim} {broken.why}"


def heading(timeline: Timeline, text: str) -> list[Label]:
    name = f"{timeline.story}: " if timeline.story else ""
    lines = wrap(name + text, WIDTH - 16, 9, True)
    return [Label(8, 12 + 12 * n, text, 9, INK, True) for n, text in enumerate(lines)]


def all_lanes(stage: Stage) -> Iterator[Lane]:
    """Clients, then each server with the resources that live on it, then resources without a known server."""
    yield from (client_lane(stage, node) for node in stage.clients)
    owned = resources(stage.timeline)
    for node in servers(stage.timeline):
        yield server_lane(stage, node)
        yield from (resource_lane(stage, server, key) for server, key in owned if server == node)
    yield from (resource_lane(stage, server, key) for server, key in owned if not server)


def place(lanes: Iterable[Lane], top: float) -> tuple[list[Lane], list[str]]:
    """The lanes one below the other, and the names of those beyond the number that can be read."""
    placed: list[Lane] = []
    found = list(lanes)
    for lane in found[:MAX_LANES]:
        placed.append(replace(lane, top=top))
        top += lane.height
    return placed, [lane.name for lane in found[MAX_LANES:]]


def _ground(lane: Lane, n: int) -> Iterator[Shape]:
    if lane.kind != "client":
        yield Box(0, lane.top, WIDTH, lane.top + lane.height, PALE, layer=BACK - 1)
    if n and lane.kind != "resource":
        yield Line(((0, lane.top), (WIDTH, lane.top)), FAINT, 0.8)


def arrows(stage: Stage, lanes: Sequence[Lane]) -> Iterator[Arrow]:
    """A packet from where it left to where it arrived; a lost one stops short of where it was meant to."""
    at = {lane.name: lane.top + lane.base for lane in reversed(lanes) if lane.kind != "resource"}
    for event in stage.shown.events():
        if event.kind not in ("deliver", "drop") or event.cause is None:
            continue
        start = stage.timeline.events[event.cause]
        op = stage.timeline.origin(event.seq)
        target = event.node if event.kind == "deliver" else _meant(start, op.node if op else "")
        if start.node in at and target in at and start.node != target:
            color = stage.inks.of(start.node if start.node in stage.clients else target)
            yield _arrow(
                (stage.x(start.t), at[start.node]), (stage.x(event.t), at[target]), color, event.kind == "drop"
            )


def _meant(start: Event, caller: str) -> str:
    """Where a lost packet was to go: a request says so, a reply goes to the caller."""
    return str(start.data.get("to") or caller)


def _arrow(start: tuple[float, float], end: tuple[float, float], color: str, lost: bool) -> Arrow:
    if lost:
        end = (max(end[0], start[0] + 4), end[1] - (SHORT if end[1] > start[1] else -SHORT))
    return Arrow(*start, *end, color, lost)
