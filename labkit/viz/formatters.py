"""How a timeline and a verdict show themselves at the end of a notebook cell.

The formatters are registered by the name of a type, so that nothing is loaded before there is something to show. The
text forms are the same in every run: they can be compared. Outside of IPython, registering does nothing.
"""

from __future__ import annotations

import sys
from typing import Any

from labkit.telling import summary
from labkit.timeline import Timeline
from labkit.verdict import Verdict
from labkit.wording import duration


def register() -> bool:
    """Tells a running IPython how to show our types; True if there is one. May be called more than once."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is None:
        return False
    formatters = shell.display_formatter.formatters
    formatters["text/html"].for_type_by_name("labkit.timeline", "Timeline", timeline_html)
    formatters["text/plain"].for_type_by_name("labkit.timeline", "Timeline", _timeline_pretty)
    formatters["text/plain"].for_type_by_name("labkit.verdict", "Verdict", _verdict_pretty)
    return True


def timeline_html(timeline: Timeline) -> str:
    """The picture with its words; loads matplotlib the first time."""
    from labkit.viz.page import html

    return html(timeline)


def timeline_text(timeline: Timeline) -> str:
    """Two lines: what happened, and how to have the same run again."""
    replay = f"; the same run again: labkit.replay({timeline.token!r})" if timeline.story else ""
    return f"{summary(timeline)}\n{len(timeline)} events in {duration(timeline.end)}{replay}"


def _timeline_pretty(timeline: Timeline, printer: Any, cycle: bool) -> None:
    _lines(timeline_text(timeline), printer)


def _verdict_pretty(verdict: Verdict, printer: Any, cycle: bool) -> None:
    _lines(str(verdict), printer)


def _lines(text: str, printer: Any) -> None:
    """Keeps the lines together where the value stands inside a list."""
    for n, line in enumerate(text.splitlines()):
        if n:
            printer.break_()
        printer.text(line)
