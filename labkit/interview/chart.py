"""The history of interviews, as text for a terminal and as an SVG for a notebook: a row for each axis.

No colour carries meaning and no package draws it: four bars of one to four steps each, with the number beside.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo
from html import escape

from .schedule import local
from .scoring import AXES, LEVELS, Summary, said

STEP, TOP, LEFT, ROW = 46, 30, 150, 72  # pixels: a column, the heading, the names, a row
NONE = "No interviews yet: `labkit interview` asks the first questions."


def text(history: Sequence[Summary], zone: tzinfo | None = None, most: int = 12) -> str:
    """The last `most` interviews: when, what was asked, and the level of each axis, then a line of levels an axis."""
    if not history:
        return NONE
    rows = [f"{local(each.when, zone)}  {', '.join(each.questions)}\n    {levels(each)}" for each in history[-most:]]
    lines = [f"  {axis:<16}{'  '.join(_digit(each, axis) for each in history[-most:])}" for axis in AXES]
    scale = f"  (from 1, {LEVELS[0]}, to 4, {LEVELS[3]}; the newest on the right)"
    return "\n".join([*rows, "", *lines, scale])


def levels(summary: Summary) -> str:
    """communication sound, problem solving not tested, …"""
    return ", ".join(f"{axis} {said(number)}" for axis, number in summary.levels.items())


def _digit(summary: Summary, axis: str) -> str:
    return str(summary.levels[axis] or "-")


def svg(history: Sequence[Summary], zone: tzinfo | None = None, most: int = 12) -> str:
    """The same as a picture on its own card: a row for each axis, a column for each interview."""
    shown = history[-most:]
    width, height = LEFT + STEP * max(len(shown), 8) + 20, TOP + ROW * len(AXES) + 14
    title = escape(
        f"Levels of {len(shown)} interviews: {'; '.join(levels(each) for each in shown[-1:]) or 'none yet'}."
    )
    parts = [
        f"<title>{title}</title>",
        f'<rect width="{width}" height="{height}" rx="6" fill="#fff" stroke="#d0d7de"/>',
    ]
    parts.append(_words(12, 17, "Your interviews, the newest on the right"))
    for row, axis in enumerate(AXES):
        parts += _row(shown, axis, TOP + ROW * row, width, zone)
    font = 'font-family="sans-serif" font-size="12"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" {font}>{"".join(parts)}</svg>'
    )


def _row(shown: Sequence[Summary], axis: str, top: int, width: int, zone: tzinfo | None) -> list[str]:
    base = top + ROW - 16
    parts = [_words(12, base - 20, axis)]
    parts += [_line(LEFT, base - 12 * step, width - 14, "#d0d7de" if step else "#57606a") for step in range(5)]
    for column, each in enumerate(shown):
        number, left = each.levels[axis], LEFT + STEP * column + 8
        tall = 12 * (number or 0)
        tip = f"<title>{escape(f'{local(each.when, zone)}: {axis} {said(number)}')}</title>"
        bar = f'<rect x="{left}" y="{base - tall}" width="24" height="{tall}" fill="#0550ae"/>'
        parts.append(f"<g>{tip}{bar if number else ''}{_words(left + 8, base + 12, str(number or '-'))}</g>")
    return parts


def _words(x: int, y: int, words: str) -> str:
    return f'<text x="{x}" y="{y}" fill="#1b1f24">{escape(words)}</text>'


def _line(x: int, y: int, to: int, colour: str) -> str:
    return f'<line x1="{x}" y1="{y}" x2="{to}" y2="{y}" stroke="{colour}"/>'
