"""A run as HTML: the picture as one image with a sentence for those who do not see it, and the same run in words.

The image is an SVG inside a data URI, because that is what a notebook shows whether it is trusted or not. It has a
light, opaque card of its own, so that it can be read on a dark page; the words take the colours of the page.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from html import escape

from labkit.telling import tell
from labkit.timeline import Timeline
from labkit.verdict import Verdict
from labkit.viz.layout import layout

MOST = 120  # sentences
FIT = "min-width:680px;max-width:100%;height:auto"  # in a narrower window it is scrolled, not shrunk


def html(timeline: Timeline, verdicts: Sequence[Verdict] = ()) -> str:
    """A fragment for a page: the picture, then the sentences of `tell()` to unfold."""
    from labkit.viz.painter import svg_bytes

    picture = layout(timeline, verdicts)
    data = b64encode(svg_bytes(picture)).decode()
    image = f'<img alt="{escape(picture.alt)}" style="{FIT}" src="data:image/svg+xml;base64,{data}">'
    return f'<div style="overflow-x:auto">{image}\n{_words(timeline)}</div>'


def document(timeline: Timeline, verdicts: Sequence[Verdict] = ()) -> str:
    """A page of its own, with nothing to load from elsewhere."""
    name = escape(timeline.token or "A run")
    style = "body{font:15px/1.5 sans-serif;margin:2em auto;max-width:940px;padding:0 1em;color-scheme:light dark}"
    head = f'<meta charset="utf-8"><title>{name}</title><style>{style}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>{html(timeline, verdicts)}</body></html>\n'


def _words(timeline: Timeline) -> str:
    rows = tell(timeline).splitlines()[1:]
    items = "\n".join(f"<li>{escape(' '.join(row.replace('t= ', 't=').split()))}</li>" for row in rows[:MOST])
    more = len(rows) - MOST
    note = f"\n<li>{more} more sentences are not shown; print(timeline.tell()) has them all.</li>" if more > 0 else ""
    return f"<details><summary>The same run in words</summary>\n<ul>\n{items}{note}\n</ul></details>"
