"""A report for people: as text in a shell, as a table with the picture of the first failure in a notebook.

The text is the same for the same verdict; only a failure carries times and a seed of its own. Nothing relies on colour.
"""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from ..telling import tell
from ..verdict import Verdict
from .report import Finding, Report
from .trial import Outcome

MARKS = {Outcome.PASS: "✓", Outcome.NOT_ATTEMPTED: "·", Outcome.NOT_TESTED: "–"}
WORDS = {Outcome.PASS: "", Outcome.NOT_ATTEMPTED: "not attempted yet", Outcome.FAIL: "failed"}
TOLD = 12  # sentences of the run are told in a shell


def text(report: Report) -> str:
    return "\n".join(_lines(report))


def _lines(report: Report) -> Iterator[str]:
    yield headline(report)
    if report.refused:
        yield report.refused
        return
    if report.attempted:
        width = max(len(each.check) for each in report.findings)
        for each in report.findings:
            yield f"  {mark(each)} {each.check:<{width}}  {each.points} of {each.worth}  {word(each)}".rstrip()
    yield from report.notes
    if report.first:
        yield ""
        yield from _failure(report.first, report)


def headline(report: Report) -> str:
    """One sentence that says how it stands."""
    name = f"{report.question}, {report.title.lower()}"
    if report.refused:
        return f"{name}: {report.answer} could not be checked."
    if not report.attempted:
        functions = list(dict.fromkeys(each.of for each in report.findings))
        todo = f"{', '.join(functions[:-1])} and {functions[-1]}" if len(functions) > 1 else functions[0]
        return f"{name}: not attempted yet, this is your task. Write {todo}, then check again."
    rest = "" if report.full else "; a check gives its points whole or not at all"
    return f"{name}: {report.score} of {report.of} points{rest}."


def mark(each: Finding) -> str:
    return MARKS.get(each.outcome, "✗")


def word(each: Finding) -> str:
    return WORDS.get(each.outcome, str(each.outcome))


def _failure(first: Finding, report: Report) -> Iterator[str]:
    yield f"First failure: {first.check}, in {first.of}. {first.asks}"
    yield f"  {first.message}"
    if first.printed.strip():
        yield "  Your code printed: " + " | ".join(first.printed.strip().splitlines())
    if first.timeline is not None:
        told = tell(first.timeline, renewals=True).splitlines()[1:]
        yield from (f"    {row}" for row in told[-TOLD:])
        if len(told) > TOLD:
            yield f"    ({len(told) - TOLD} sentences before these are left out)"
    if first.again:
        yield f"  The same play again: {again(first, report)}"


def again(first: Finding, report: Report) -> str:
    """The call, or the command, that has the decisive play again."""
    if report.answer.endswith((".py", ".ipynb")):
        return f"labkit check {report.question} {shlex.quote(report.answer)} --again {first.again}"
    return f'check("{report.question}", again="{first.again}")'


# -- in a notebook ---------------------------------------------------------------------------------------------------

LATE = 1.5  # seconds without a verdict, after which a reader is told what goes on


class Ticker:
    """Says what a check waits for, once it takes longer than a moment: in a terminal on stderr, in a notebook below the
    cell. At the end nothing is left of it, so that the outputs of a saved notebook do not depend on the machine's
    speed: there an empty output is the place for the words, and is empty again."""

    def __init__(self) -> None:
        self._late = time.monotonic() + LATE
        self._shown = ""
        self._place = _place() if "ipykernel" in sys.modules else None  # spares a shell the import of IPython

    def __call__(self, doing: str) -> None:
        if time.monotonic() < self._late or doing == self._shown:
            return
        self._shown = doing
        if self._place is not None:
            self._place.update(_bundle(f"Still at it: {doing} …"), raw=True)
        elif sys.stderr.isatty():
            print(f"\r\x1b[K{doing} …", end="", file=sys.stderr, flush=True)

    def __enter__(self) -> Ticker:
        return self

    def __exit__(self, *exc: object) -> None:
        if not self._shown:
            return
        if self._place is not None:
            self._place.update(_bundle(""), raw=True)
        elif sys.stderr.isatty():
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _place() -> Any:
    """An output without words, which can be given some; None where ipykernel is loaded and no kernel runs."""
    from IPython import get_ipython
    from IPython.display import display

    if not hasattr(get_ipython(), "kernel"):
        return None
    return display(_bundle(""), raw=True, display_id=True)


def _bundle(text: str) -> dict[str, str]:
    return {"text/html": f"<i>{escape(text)}</i>" if text else "", "text/plain": text}


CELL = "text-align:left;vertical-align:top;padding:2px 10px 2px 0"


def html(report: Report) -> str:
    parts = [f"<p><b>{escape(headline(report))}</b></p>"]
    if report.refused:
        parts.append(f"<p>{escape(report.refused)}</p>")
    elif report.attempted:
        parts.append(f"<table>{''.join(map(_row, report.findings))}</table>")
    parts += [f"<p>{escape(note)}</p>" for note in report.notes]
    if report.first:
        parts.append(_failure_html(report.first, report))
    return "\n".join(parts)


def _row(each: Finding) -> str:
    """A row of the table, in bold print where points were lost: a mark alone is easily passed over."""
    cells = (mark(each), each.check, f"{each.points} of {each.worth}", word(each), each.asks)
    style = CELL if each.points == each.worth else f"{CELL};font-weight:bold"
    return "<tr>" + "".join(f'<td style="{style}">{escape(cell)}</td>' for cell in cells) + "</tr>"


def _failure_html(first: Finding, report: Report) -> str:
    parts = [
        f"<p><b>First failure: {escape(first.check)}, in {escape(first.of)}.</b> {escape(first.asks)}</p>",
        f"<p>{escape(first.message)}</p>",
    ]
    if first.printed.strip():
        parts.append(f"<p>Your code printed:</p><pre>{escape(first.printed.strip())}</pre>")
    if first.timeline is not None and len(first.timeline):
        from ..viz.page import html as picture

        verdict = Verdict(f"{first.check}.", False, first.message, first.evidence)
        parts.append(picture(first.timeline, [verdict]))
    if first.again:
        parts.append(f"<p>The same play again: <code>{escape(again(first, report))}</code></p>")
    return "\n".join(parts)


def draw(report: Report, path: Path) -> None:
    """Draws the first failure into a .svg, .png or .html file. Raises ValueError for another ending, OSError."""
    from ..viz import save

    first = report.first
    if first is not None and first.timeline is not None:
        save(first.timeline, path, [Verdict(f"{first.check}.", False, first.message, first.evidence)])
