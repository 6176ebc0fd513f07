"""Memory: by how much a process grows when it plays the smallest story ten thousand times.

A process of its own plays the story, first until its pools and caches have filled, then as often as asked; the figure is
by how much the most memory that it ever held has grown meanwhile. So memory that was freed again does not hide a peak.
Ten thousand runs take a minute or so; a run of all figures plays a fifth of them and says what ten thousand would take.
"""

from __future__ import annotations

import subprocess
import sys

from .common import Figure, Row

FULL, SAMPLE, WARM_UP = 10_000, 2_000, 500
GOAL_MB = 5.0
SCRIPT = """
import resource, sys
from labkit import play
from labkit.stories import STORIES

smallest = min(STORIES, key=lambda name: len(play(name)))

def grown_to(runs):
    for _ in range(runs):
        play(smallest)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

before = grown_to(int(sys.argv[1]))
print(smallest, grown_to(int(sys.argv[2])) - before)
"""


def leak(rounds: int, runs: int = FULL) -> list[Row]:
    """Growth over `runs` runs, scaled to ten thousand. One process is one measurement: `rounds` is not used."""
    name = f"growth over {FULL:,} runs"
    if sys.platform == "win32":
        return [Row(name, None, "MB", note="peak memory is read by getrusage, which Windows does not have")]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(WARM_UP), str(runs)], check=True, capture_output=True, text=True
    )
    story, grown = done.stdout.split()
    note = f"{runs:,} runs of {story}" + ("" if runs == FULL else "; for all, --only leak")
    return [Row(name, int(grown) / 1e6 * FULL / runs, "MB", GOAL_MB, "below", note=note)]


def sampled(rounds: int) -> list[Row]:
    return leak(rounds, SAMPLE)


FIGURES: dict[str, Figure] = {"leak": leak}
IN_ALL: dict[str, Figure] = {"leak": sampled}  # what a run of all figures does instead
