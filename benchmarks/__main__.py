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

from . import leak, locks, pictures, world
from .common import Figure, Row

FIGURES: dict[str, Figure] = {**locks.FIGURES, **world.FIGURES, **pictures.FIGURES, **leak.FIGURES}
ROUNDS = 15


def main(words: Sequence[str] | None = None, figures: Mapping[str, Figure] | None = None) -> int:
    """Exit status: 0, all goals are reached; 1, one is missed or could not be measured; 2, no figure has that name."""
    given = _parser().parse_args(words)
    known = FIGURES if figures is None else figures
    unknown = [name for name in given.only if name not in known]
    if unknown:
        print(f"No figure is called {unknown[0]!r}; there are {', '.join(known)}.", file=sys.stderr)
        return 2
    chosen = {name: known[name] for name in given.only} if given.only else known | leak.IN_ALL if figures is None else known
    before = load()
    rows = [row for figure in chosen.values() for row in figure(given.rounds)]
    busy = f"load average {before} before, {load()} after, on {os.cpu_count()} processors"
    print(as_json(rows, busy)) if given.json else Console().print(table(rows, busy))
    return int(any(row.failed for row in rows))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", metavar="NAME", action="append", default=[], help=f"one of {', '.join(FIGURES)}")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"rounds a figure takes (default {ROUNDS})")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    return parser


def load() -> str:
    """How busy the machine has been for the last minute: figures of a busy machine are worth less."""
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"


def table(rows: Sequence[Row], busy: str) -> Table:
    grid = Table(caption=busy, caption_justify="left")
    for heading in ("name", "figure", "middle half", "goal", "", "note"):
        grid.add_column(heading, justify="right" if heading in ("figure", "middle half", "goal") else "left")
    colours = {"ok": "green", "short": "bold red", "not measured": "yellow", "reported": "dim"}
    for row in rows:
        spread = f"{number(row.spread[0])} … {number(row.spread[1])}" if row.spread else ""
        goal = f"{row.sense} {number(row.goal)} {row.unit}".strip() if row.goal is not None else ""
        figure = f"{number(row.figure)} {row.unit}".strip()
        verdict = f"[{colours[row.verdict]}]{row.verdict}"
        grid.add_row(row.name, figure, spread, goal, verdict, row.note)
    return grid


def number(value: float | None) -> str:
    """Three figures at least, and thousands set apart."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}" if abs(value) < 1 else f"{value:.2f}"


def as_json(rows: Sequence[Row], busy: str) -> str:
    return json.dumps([asdict(row) | {"verdict": row.verdict, "load": busy} for row in rows], ensure_ascii=False, indent=1)


if __name__ == "__main__":
    sys.exit(main())
