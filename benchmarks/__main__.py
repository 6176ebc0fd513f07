"""`python -m benchmarks`: takes the figures, prints a row each, and exits 1 where one falls short of its goal."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from rich.console import Console
from rich.table import Table
from rich.text import Text

from . import drills, leak, locks, pictures, redlock, renewal, search, world
from .common import Figure, Row

FIGURES: dict[str, Figure] = {
    **locks.FIGURES,
    **redlock.FIGURES,
    **renewal.FIGURES,
    **world.FIGURES,
    **pictures.FIGURES,
    **drills.FIGURES,
    **search.FIGURES,
    **leak.FIGURES,
}
ROUNDS = 15
SIGNS = {"at most": "≤", "below": "<", "at least": "≥"}
COLOURS = {"ok": "green", "short": "bold red", "reported": "dim", "missing": "bold red"}


def main(
    words: Sequence[str] | None = None,
    figures: Mapping[str, Figure] = FIGURES,
    in_all: Mapping[str, Figure] = leak.IN_ALL,
) -> int:
    """Takes `figures`, those in `in_all` in their place where no name is given. Returns the exit status: 0, all goals
    are reached; 1, one is missed or could not be measured; 2, no figure has that name."""
    given = _parser(figures).parse_args(words)
    for name in given.only:
        if name not in figures:
            print(f"No figure is called {name!r}; there are {', '.join(figures)}.", file=sys.stderr)
            return 2
    chosen = {name: figures[name] for name in given.only} or {**figures, **in_all}
    before = load()
    rows = [row for figure in chosen.values() for row in figure(given.rounds)]
    busy = f"Load average {before} before and {load()} after, on {os.cpu_count()} processors."
    print(as_json(rows, busy)) if given.json else show(rows, busy)
    return int(any(row.failed for row in rows))


def _parser(figures: Mapping[str, Figure]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=(__doc__ or "").partition(": ")[2])
    parser.add_argument("--only", metavar="NAME", action="append", default=[], help=f"one of {', '.join(figures)}")
    parser.add_argument("--rounds", type=_rounds, default=ROUNDS, help=f"how often to measure (default: {ROUNDS})")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    return parser


def _rounds(word: str) -> int:
    if not word.isdigit() or not int(word):
        raise argparse.ArgumentTypeError(f"{word!r} is not a number of rounds, 1 or more")
    return int(word)


def load() -> str:
    """How busy the machine has been in the last minute: the figures of a busy one are worth less."""
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"


def show(rows: Sequence[Row], busy: str, console: Console | None = None) -> None:
    """One line a figure, then what each stands on."""
    table = Table(box=None, pad_edge=False)
    for heading in ("figure", "median", "middle half", "goal", ""):
        table.add_column(heading, justify="left" if heading in ("figure", "") else "right", no_wrap=True)
    for row in rows:
        spread = f"{number(row.spread[0])} … {number(row.spread[1])}" if row.spread else ""
        goal = f"{SIGNS[row.sense]} {number(row.goal)}" if row.goal is not None else ""
        value = f"{number(row.figure)} {row.unit}".strip()
        table.add_row(row.name, value, spread, goal, Text(row.verdict, COLOURS[row.verdict]))
    out = console or Console()
    notes = [f"{row.name}: {row.note}." for row in rows if row.note]
    out.print(table, "", *notes, busy, sep="\n", highlight=False)


def number(value: float | None) -> str:
    """Three digits that count, or all before the point."""
    if value is None:
        return "–"
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2 if abs(value) >= 1 else 3
    return f"{value:,.{digits}f}"


def as_json(rows: Sequence[Row], busy: str) -> str:
    found = [asdict(row) | {"verdict": row.verdict} for row in rows]
    return json.dumps({"figures": found, "machine": busy}, ensure_ascii=False, indent=1)


if __name__ == "__main__":
    sys.exit(main())
