"""`save`: one run into one file, the kind of file chosen by its name.

The name is checked before anything is drawn, so that a slip costs no wait and leaves no half-written file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from labkit.timeline import Timeline
from labkit.verdict import Verdict
from labkit.viz.chrometrace import chrome_trace
from labkit.viz.layout import layout
from labkit.viz.page import document

Writer = Callable[[Timeline, Sequence[Verdict]], bytes]


def save(timeline: Timeline, path: str | Path, verdicts: Sequence[Verdict] = ()) -> Path:
    """Writes the run to `path` and returns it: a picture (.svg, .png), a page (.html), the events (.json), or a trace
    for Perfetto and chrome://tracing (.trace.json). An existing file is replaced.

    Raises ValueError for another ending, and FileNotFoundError if the folder does not exist.
    """
    path = Path(path)
    writer = _writer(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {str(path.parent)!r} for {path.name!r}: create it first.")
    path.write_bytes(writer(timeline, verdicts))
    return path


def _svg(timeline: Timeline, verdicts: Sequence[Verdict]) -> bytes:
    from labkit.viz.painter import svg_bytes

    return svg_bytes(layout(timeline, verdicts))


def _png(timeline: Timeline, verdicts: Sequence[Verdict]) -> bytes:
    from labkit.viz.painter import png_bytes

    return png_bytes(layout(timeline, verdicts))


WRITERS: dict[str, Writer] = {  # the longer of two endings first
    ".trace.json": lambda timeline, _: chrome_trace(timeline).encode(),
    ".json": lambda timeline, _: timeline.to_json().encode(),
    ".html": lambda timeline, verdicts: document(timeline, verdicts).encode(),
    ".svg": _svg,
    ".png": _png,
}


def _writer(path: Path) -> Writer:
    for ending, writer in WRITERS.items():
        if path.name.lower().endswith(ending) and len(path.name) > len(ending):
            return writer
    allowed = ", ".join(sorted(WRITERS))
    ending = path.suffix or "no ending"
    raise ValueError(f"A timeline cannot be saved as {path.name!r} ({ending}): the name must end in one of {allowed}.")
