"""Drills: how long a learner waits for a verdict, and for the end of an answer that does not end.

Time is the wall's: a verdict comes from several processes. The first check of a kernel also loads the world, once, into
the process from which the others are forked; it is in the figure of its own and in no other.
"""

from __future__ import annotations

import subprocess
import sys
import time
from functools import partial
from pathlib import Path

from .common import Figure, Row, interleave, summary

ROOT = Path(__file__).parent.parent
RIGHT = ROOT / "labkit" / "drills" / "q1" / "model.py"
HOSTILE = ROOT / "tests" / "wrong_answers" / "q1" / "hostile"


def verdict(rounds: int) -> list[Row]:
    """A whole verdict on a right answer to question 1: in a fresh shell, and in a process that has checked before."""
    from labkit.drills import check_file

    few = min(rounds, 5)
    command = [sys.executable, "-m", "benchmarks.drills", "q1", str(RIGHT)]
    times = interleave(
        few,
        time.perf_counter,
        shell=lambda: subprocess.run(command, check=True, capture_output=True, cwd=ROOT),
        kernel=lambda: check_file("q1", RIGHT, record=False),
    )
    note = "question 1, full points; 13 checks, about 90 runs"
    return [
        summary("verdict, from a fresh shell", times["shell"], unit="s", goal=5, note=note),
        summary("verdict, in a kernel that has checked before", times["kernel"], unit="s", goal=2, note=note),
    ]


def ends(rounds: int) -> list[Row]:
    """Answers that would never end: until they are named."""
    from labkit.drills import check_file

    names = ("endless_keep_alive", "endless_longest_interval", "memory_bomb", "swallows_everything")
    rows = []
    for name in names:
        check = partial(check_file, "q1", HOSTILE / f"{name}.py", record=False)
        times = interleave(min(rounds, 2), time.perf_counter, one=check)
        rows.append(summary(f"until named: {name.replace('_', ' ')}", times["one"], unit="s", goal=15))
    return rows


FIGURES: dict[str, Figure] = {"verdict": verdict, "ends": ends}

if __name__ == "__main__":
    from labkit.drills import check_file

    print(check_file(sys.argv[1], sys.argv[2], record=False))
