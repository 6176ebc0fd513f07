"""The errata for people: what the runs of each have shown, as a line or a block in a shell, as JSON, and as a page of
the docs.

An erratum is as it should be if the run of what the article says broke the claim and the run of the repair kept it. One
that is not run here says why, and who says so instead.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.text import Text

from .erratum import GRADES, Erratum, Shown

BROKE, KEPT, NEITHER = "✗", "✓", "?"
MARKS = {False: BROKE, True: KEPT, None: NEITHER}
COLOURS = {False: "red", True: "green", None: "yellow"}


@dataclass(frozen=True)
class Row:
    """An erratum and what its runs have shown; None where there is none."""

    erratum: Erratum
    wrong: Shown | None
    right: Shown | None

    @property
    def as_it_should_be(self) -> bool:
        """The article's way broke the claim and the repair kept it; also where there is nothing to run."""
        broke = self.wrong is None or self.wrong.holds is False
        return broke and (self.right is None or self.right.holds is True)

    @property
    def stars(self) -> str:
        return "★" * self.erratum.grade

    def as_dict(self) -> dict[str, Any]:
        told = ("number", "grade", "section", "claim", "truth", "where", "source")
        shown = {"wrong": self.wrong and asdict(self.wrong), "right": self.right and asdict(self.right)}
        fields = {name: getattr(self.erratum, name) for name in told}
        return fields | shown | {"as_it_should_be": self.as_it_should_be}


def run(erratum: Erratum) -> Row:
    """Plays both runs of an erratum."""
    return Row(erratum, erratum.wrong and erratum.wrong(), erratum.right and erratum.right())


def summary(rows: Sequence[Row]) -> str:
    """How many were run, and which are not as they should be."""
    played = sum(row.wrong is not None for row in rows)
    said = f"{len(rows)} errata, {played} of them run: "
    if len(rows) == 1:
        said = f"1 erratum, {'run' if played else 'not run'}: "
    if odd := [row.erratum.number for row in rows if not row.as_it_should_be]:
        return f"{said}{', '.join(odd)} not as it should be, the article's way broken and the repair sound."
    if not played:
        return f"{said}its source is told instead." if len(rows) == 1 else f"{said}their sources are told instead."
    return f"{said}{'it' if len(rows) == 1 else 'each'} breaks as said, and holds when repaired."


# -- in a shell --------------------------------------------------------------------------------------------------------

LABEL = 10  # columns


def legend() -> str:
    """What the signs of a list mean."""
    stars = "".join(f"{'★' * grade:<5}{says}\n" for grade, says in GRADES.items())
    return f"{stars}{BROKE}{KEPT}   the article's way broke the claim; its repair kept it\n––   not run here"


def line(row: Row, width: int = 80) -> Text:
    """Number, grade, what the two runs have shown, and of the claim as much as one line holds."""
    marks = "".join("–" if shown is None else MARKS[shown.holds] for shown in (row.wrong, row.right))
    head = f"{row.erratum.number:<6}{row.stars:<5}{marks:<4}"
    text = Text(head + textwrap.shorten(row.erratum.claim, max(width - len(head), 30), placeholder=" …"))
    for nth, shown in enumerate((row.wrong, row.right)):
        if shown is not None:
            text.stylize(COLOURS[shown.holds], 11 + nth, 12 + nth)
    return text


def brief(row: Row, width: int = 80) -> Text:
    """Number, claim, what is right, what the runs show, where; of one that is not run also who says so."""
    unrun = [] if row.wrong is not None else [("source", row.erratum.source)]
    says = [("says", row.erratum.claim), ("is", row.erratum.truth)]
    return _block(row, width, [*says, *_shown(row), *unrun, ("where", row.erratum.where)])


def full(row: Row, width: int = 80) -> Text:
    """All that there is, with the strings that play the runs again, and how to draw them. Those stand in lines of their
    own that nothing wraps, so that they can be copied."""
    says = [("says", row.erratum.claim), ("is", row.erratum.truth)]
    more = [("where", row.erratum.where), ("source", row.erratum.source)]
    block = _block(row, width, [*says, *_shown(row), *more])
    calls = [(label, f"labkit.replay({shown.again!r})") for label, shown in _runs(row) if shown.again]
    if not calls:
        return block
    path = f"{row.erratum.number.lower()}.svg"
    lines = ["", "The runs again, in Python; at the end of a notebook's cell each is a picture:"]
    lines += [f"  {call}  # {label}" for label, call in calls]
    lines += ["And as a file:", f"  labkit.viz.save({calls[0][1]}, {path!r})"]
    return Text("\n").join([block, *map(Text, lines)])


def _block(row: Row, width: int, said: Iterable[tuple[str, str]]) -> Text:
    head = Text(f"{row.erratum.number:<{LABEL}}{row.stars}  section {row.erratum.section}, of the article", "bold")
    return Text("\n").join([head, *(_wrapped(label, text, width) for label, text in said if text)])


def _wrapped(label: str, text: str, width: int) -> Text:
    """A label, and beside it the text. A mark is coloured; it must do without, in a log and for every eye."""
    inner = textwrap.wrap(text, max(width - LABEL, 30), break_long_words=False, break_on_hyphens=False)
    wrapped = Text(f"{label:<{LABEL}}" + ("\n" + " " * LABEL).join(inner))
    for holds, mark in MARKS.items():
        if text.startswith(f"{mark} "):
            wrapped.stylize(COLOURS[holds], LABEL, LABEL + 1)
    return wrapped


def _runs(row: Row) -> list[tuple[str, Shown]]:
    return [(label, shown) for label, shown in (("run", row.wrong), ("repaired", row.right)) if shown is not None]


def _shown(row: Row) -> list[tuple[str, str]]:
    return [(label, _marked(shown)) for label, shown in _runs(row)]


# -- as a page of the docs ---------------------------------------------------------------------------------------------


def markdown(rows: Sequence[Row]) -> str:
    """The tables of the page: those that run, those that do not, and the strings that play the runs again."""
    lines = [f"- **{'★' * grade}** {says}" for grade, says in GRADES.items()]
    lines += [f"- **{BROKE}** the run broke the claim; **{KEPT}** the run kept it", "", summary(rows), ""]
    lines += ["| | The article says | The run shows | Repaired | Where |", "| --- | --- | --- | --- | --- |"]
    for row in (row for row in rows if row.wrong is not None):
        lines.append(_cells(_name(row), row.erratum.claim, _marked(row.wrong), _marked(row.right), row.erratum.where))
    lines += ["", "## Not run here", "", "| | The article says | What is right | Where | Why not, and who says so |"]
    lines.append("| --- | --- | --- | --- | --- |")
    for erratum in (row.erratum for row in rows if row.wrong is None):
        name = _name(Row(erratum, None, None))
        lines.append(_cells(name, erratum.claim, erratum.truth, erratum.where, erratum.source))
    lines += ["", "## What is right, and the runs again", "", "| | What is right | Source | Again |"]
    lines.append("| --- | --- | --- | --- |")
    for row in (row for row in rows if row.wrong is not None):
        strings = "; ".join(f"{label} `{shown.again}`" for label, shown in _runs(row) if shown.again)
        lines.append(_cells(_name(row), row.erratum.truth, row.erratum.source or "–", strings or "–"))
    return "\n".join(lines) + "\n"


def _name(row: Row) -> str:
    return f"**{row.erratum.number}** {row.stars} {row.erratum.section}"


def _marked(shown: Shown | None) -> str:
    return "–" if shown is None else f"{MARKS[shown.holds]} {shown.why}"


def _cells(*texts: str) -> str:
    """A line of a table: what would end a cell is written so that it does not."""
    return "| " + " | ".join(" ".join(text.split()).replace("|", "\\|") for text in texts) + " |"
