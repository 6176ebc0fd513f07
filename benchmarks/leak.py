"""Memory: by how much a process grows when it plays the smallest story ten thousand times.

A process of its own plays the story, first until its pools and caches have filled, then as often as asked; the figure
is by how much its resident memory has grown meanwhile. The collector runs every 250 runs, so that what waits for it is
not taken for a leak. Ten thousand runs take a minute or two; a run of all figures plays a fifth, scales, and says so.
"""

from __future__ import annotations

import subprocess
import sys

from .common import Figure, Row

FULL, SAMPLE, WARM_UP = 10_000, 2_000, 500
GOAL_MB = 5.0
SCRIPT = """
import gc, sys
import psutil
from labkit import play
from labkit.stories import STORIES

smallest = min(STORIES, key=lambda name: len(play(name)))

def grown_to(runs):
    for number in range(runs):
        play(smallest)
        if number % 250 == 249:
            gc.collect()
    return psutil.Process().memory_info().rss

before = grown_to(int(sys.argv[1]))
print(smallest, grown_to(int(sys.argv[2])) - before)
"""


def leak(rounds: int, runs: int = FULL) -> list[Row]:
    """Growth over `runs` runs, scaled to ten thousand. One process is one measurement: `rounds` is not used."""
    start = [sys.executable, "-c", SCRIPT, str(WARM_UP), str(runs)]
    story, grown = subprocess.run(start, check=True, capture_output=True, text=True).stdout.split()
    note = f"{runs:,} runs of {story}" + ("" if runs == FULL else f", scaled to {FULL:,}; --only leak plays them all")
    return [Row(f"growth over {FULL:,} runs", int(grown) / 1e6 * FULL / runs, "MB", GOAL_MB, "below", note=note)]


def sampled(rounds: int) -> list[Row]:
    return leak(rounds, SAMPLE)


FIGURES: dict[str, Figure] = {"leak": leak}
IN_ALL: dict[str, Figure] = {"leak": sampled}  # what a run of all figures does instead
