"""The search: schedules a second, the time until a break is found and until it is played again, the quick matrix.

The matrix takes about a minute with two workers and two with one, so it is measured once. The full matrix (`labkit
matrix --full`) takes hours and is measured nowhere.
"""

from __future__ import annotations

import json
import time
from functools import partial
from pathlib import Path
from statistics import median

from .common import Figure, Row, interleave, summary

RECORDED = Path(__file__).parent.parent / "docs" / "matrix.json"


def schedules(rounds: int) -> list[Row]:
    """Schedules of one fault on the fencing story, in one process."""
    from labkit.explore import search

    rates = []
    for _ in range(min(rounds, 5)):
        start = time.process_time()
        found = search("late-token", "no_lost_update", faults=("pause", "lose"), most=1)
        rates.append(found.runs / (time.process_time() - start))
    note = "late-token, one fault: a run sends 18 commands"
    return [summary("schedules a second", rates, goal=100, sense="at least", note=note)]


def breaks(rounds: int) -> list[Row]:
    """The recorded breaks of the course's rows, played again; and the slowest cell with a break, searched anew."""
    from labkit.explore.matrix import ROWS, cell
    from labkit.stories import replay

    cells = [c for c in json.loads(RECORDED.read_text(encoding="utf-8")) if c["verdict"] == "U" and c["row"] in ROWS]
    again = [interleave(min(rounds, 3), time.process_time, it=partial(replay, c["replay"]))["it"] for c in cells]
    slowest = max(cells, key=lambda c: int(c["runs"]))
    found = interleave(min(rounds, 3), time.process_time, it=partial(cell, slowest["row"], slowest["column"]))["it"]
    note = f"{slowest['row']} {slowest['column']}, {slowest['runs']} runs"
    worst = max(median(times) for times in again) * 1000
    return [
        Row("a recorded break, played again: the slowest", worst, "ms", 50, note=f"of {len(cells)}"),
        summary("until the farthest break is found", found, unit="s", goal=5, note=note),
    ]


def matrix(rounds: int) -> list[Row]:
    """The quick matrix of the course's rows with one worker and with two."""
    from labkit.explore.matrix import COLUMNS, ROWS, searched

    times = {}
    for workers in (2, 1):
        start = time.perf_counter()
        searched(tuple(ROWS), tuple(COLUMNS), workers=workers)
        times[workers] = time.perf_counter() - start
    return [
        Row("quick matrix, two workers", times[2], "s", 90),
        Row("two workers against one", times[1] / times[2], "×", 1.7, "at least"),
    ]


FIGURES: dict[str, Figure] = {"schedules": schedules, "breaks": breaks, "matrix": matrix}
