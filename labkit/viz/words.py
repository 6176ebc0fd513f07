"""Words in a picture: how wide a text is, and which of several wordings fits where.

The widths are those of DejaVu Sans, the widest of the fonts that a reader is likely to have, so that what fits here
fits there as well. Nothing is drawn and no font is opened.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

# Advance widths of the characters from space to "~", in hundredths of the size.
_PLAIN = tuple(
    int(n)
    for n in (
        "32 40 46 84 64 95 78 27 39 39 50 84 32 36 32 34 64 64 64 64 64 64 64 64 "
        "64 64 34 34 84 84 84 53 100 68 69 70 77 63 58 77 75 29 29 66 56 86 75 79 "
        "60 79 69 63 61 73 68 99 69 61 69 39 34 39 84 50 50 61 63 55 63 62 35 63 "
        "63 28 28 58 28 97 63 61 63 63 41 52 39 63 59 82 59 59 52 64 34 64 84 "
    ).split()
)
_BOLD_OVER = 1.14  # bold characters are wider by at most this, taken over a whole word
_WIDE = {"×": 84, "→": 84, "…": 100, "–": 50, "—": 100, "·": 32}


def width(text: str, size: float, bold: bool = False) -> float:
    """The width of a text in points. Characters beyond ASCII count as a full square."""
    total = sum(_PLAIN[ord(c) - 32] if " " <= c <= "~" else _WIDE.get(c, 100) for c in text)
    return total * size / 100 * (_BOLD_OVER if bold else 1.0)


def fit(wordings: Sequence[str], room: float, size: float, bold: bool = False) -> str:
    """The first wording that is not wider than `room` points, or nothing."""
    return next((text for text in wordings if text and width(text, size, bold) <= room), "")


def shorten(text: str, room: float, size: float, bold: bool = False) -> str:
    """The text, cut with "…" where it would be wider than `room` points."""
    if width(text, size, bold) <= room:
        return text
    while text and width(text + "…", size, bold) > room:
        text = text[:-1]
    return text.rstrip() + "…"


@dataclass(frozen=True, slots=True)
class Want:
    """A wish for a text at `x`: wordings from long to short; the lowest rank is placed first."""

    x: float
    wordings: tuple[str, ...]
    color: str
    rank: int = 1
    center: bool = False
    bold: bool = False


@dataclass(frozen=True, slots=True)
class Placed:
    want: Want
    text: str
    left: float
    row: int


def stack(
    wants: Iterable[Want], left: float, right: float, size: float, rows: int = 3, gap: float = 6.0
) -> list[Placed]:
    """Puts texts into rows so that none overlaps another: the important first, each in the highest row that has room
    for its longest wording, else for a shorter one. What finds no room in any row is left out."""
    taken: list[list[tuple[float, float]]] = [[] for _ in range(rows)]
    placed = []
    for want in sorted(wants, key=lambda w: (w.rank, w.x)):
        found = _place(want, taken, left, right, size, gap)
        if found:
            taken[found.row].append((found.left - gap, found.left + width(found.text, size, want.bold) + gap))
            placed.append(found)
    return placed


def _place(
    want: Want, taken: list[list[tuple[float, float]]], left: float, right: float, size: float, gap: float
) -> Placed | None:
    for text in want.wordings:
        wide = width(text, size, want.bold)
        start = max(left, min(want.x - (wide / 2 if want.center else 0), right - wide))
        for row, spans in enumerate(taken):
            if all(start + wide <= a or b <= start for a, b in spans):
                return Placed(want, text, start, row)
    return None


def wrap(text: str, room: float, size: float, bold: bool = False, most: int = 2) -> list[str]:
    """The text in at most `most` lines of `room` points; what does not fit is cut with "…"."""
    lines: list[str] = []
    words = [word.replace("~", " ") for word in text.replace(" = ", "~=~").split(" ")]  # keeps "t = 1" together
    while words and len(lines) < most - 1:
        count = next((n for n in range(len(words), 1, -1) if width(" ".join(words[:n]), size, bold) <= room), 1)
        lines.append(shorten(" ".join(words[:count]), room, size, bold))
        words = words[count:]
    return [*lines, shorten(" ".join(words), room, size, bold)] if words else lines
