"""Pictures of a run: `figure`, `svg`, `png`, `html`, `save`, `chrome_trace`.

One layout decides where everything is; thin painters paint it. Equal timelines give equal bytes, in any process.
matplotlib is loaded with the first picture, not before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from labkit.timeline import Timeline
from labkit.verdict import Verdict
from labkit.viz.chrometrace import chrome_trace
from labkit.viz.layout import layout
from labkit.viz.page import html
from labkit.viz.saving import save

if TYPE_CHECKING:
    from labkit.viz.painter import Figure

__all__ = ["chrome_trace", "figure", "html", "layout", "png", "save", "svg"]


def figure(timeline: Timeline, verdicts: Sequence[Verdict] = ()) -> Figure:
    """The picture as a matplotlib figure (without pyplot). verdicts: circle the evidence of those that are broken."""
    from labkit.viz.painter import paint

    return paint(layout(timeline, verdicts))


def svg(timeline: Timeline, verdicts: Sequence[Verdict] = ()) -> str:
    """The picture as SVG text, with its one-sentence summary as title."""
    from labkit.viz.painter import svg_bytes

    return svg_bytes(layout(timeline, verdicts)).decode()


def png(timeline: Timeline, verdicts: Sequence[Verdict] = (), dpi: float = 144) -> bytes:
    """The picture as PNG bytes. dpi: dots an inch; the card is 9.5 inches wide."""
    from labkit.viz.painter import png_bytes

    return png_bytes(layout(timeline, verdicts), dpi)
