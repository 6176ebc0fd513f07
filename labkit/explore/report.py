"""The matrix for people: a table in a shell or a notebook, and as a picture the same with its colours."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from .matrix import ALL, COLUMNS, Cell

COLOURS = {"S": "#d5e8d4", "D": "#fff2cc", "U": "#f8cecc", "?": "#eeeeee", "–": "#ffffff"}
LEGEND = {
    "S": "no schedule within the bounds breaks it",
    "D": "the data are safe; two believed at once, or the store refused one",
    "U": "some schedule breaks it",
    "?": "unknown: the budget was spent, or the story never comes to the point with this lock",
    "–": "cannot happen to this lock",
}


def text(cells: Sequence[Cell]) -> str:
    """A table of letters, then a line for each U with the string that plays its break again."""
    rows, columns = _names(cells)
    by = {(cell.row, cell.column): cell.verdict for cell in cells}
    lines = [" " * 18 + "".join(f"{column:>5}" for column in columns)]
    lines += [f"{row:<18}" + "".join(f"{by.get((row, column), ''):>5}" for column in columns) for row in rows]
    lines += ["", *(f"{row:<18}{ALL[row].says}" for row in rows)]
    lines += ["", *(f"{column:<5}{COLUMNS[column].says}" for column in columns)]
    lines += ["", *(f"{sign}  {says}" for sign, says in LEGEND.items() if sign in by.values())]
    breaks = [f"{cell.row} {cell.column}  {cell.replay}" for cell in cells if cell.verdict == "U"]
    return "\n".join([*lines, *(["", "The breaks; labkit.replay(…) plays them again:", *breaks] if breaks else [])])


def html(cells: Sequence[Cell]) -> str:
    """The same as a table; a cell says more when the pointer rests on it. The letters say all that the colours do."""
    rows, columns = _names(cells)
    by = {(cell.row, cell.column): cell for cell in cells}
    head = "".join(f'<th title="{escape(COLUMNS[column].says)}">{column}</th>' for column in columns)
    body = "".join(
        f'<tr><th style="text-align:left" title="{escape(ALL[row].says)}">{row} {escape(ALL[row].says)}</th>'
        + "".join(_html_cell(by.get((row, column))) for column in columns)
        + "</tr>"
        for row in rows
    )
    signs = "; ".join(f"<b>{sign}</b> {escape(says)}" for sign, says in LEGEND.items())
    return f"<table><tr><th></th>{head}</tr>{body}</table><p>{signs}</p>"


def markdown(cells: Sequence[Cell]) -> str:
    """The same as a page of the docs: the table, and each break with the string that plays it again."""
    rows, columns = _names(cells)
    by = {(cell.row, cell.column): cell for cell in cells}
    lines = ["| |" + " | ".join(columns) + " |", "| --- |" + " --- |" * len(columns)]
    lines += [f"| **{r}** {ALL[r].says} | " + " | ".join(by[r, c].verdict for c in columns) + " |" for r in rows]
    lines += ["", *(f"- **{sign}** {says}" for sign, says in LEGEND.items())]
    lines += ["", *(f"- **{column}** {COLUMNS[column].says}" for column in columns)]
    lines += ["", "| cell | again | what happens |", "| --- | --- | --- |"]
    breaks = [cell for cell in cells if cell.verdict == "U"]
    lines += [f"| {cell.row} {cell.column} | `{cell.replay}` | {cell.why} |" for cell in breaks]
    bounds = sorted({f"{cell.column}, {_kind(cell.row)}: {cell.bounds}" for cell in cells if cell.verdict in "SD"})
    return "\n".join([*lines, "", "Bounds within which an S or a D was exhausted:", "", *(f"- {b}" for b in bounds)])


def _kind(row: str) -> str:
    return "an ensemble" if ALL[row].ensemble else "one server" if len(ALL[row].servers) == 1 else "five servers"


def _html_cell(cell: Cell | None) -> str:
    if cell is None:
        return "<td></td>"
    style = f"background:{COLOURS[cell.verdict]};color:#000;text-align:center;padding:3px 9px"
    more = escape("; ".join(filter(None, (cell.schedule, cell.why, cell.bounds))))
    return f'<td style="{style}" title="{more}">{cell.verdict}</td>'


def _names(cells: Sequence[Cell]) -> tuple[list[str], list[str]]:
    return list(dict.fromkeys(c.row for c in cells)), list(dict.fromkeys(c.column for c in cells))
