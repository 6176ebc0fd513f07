"""«Prove it»: the run that settles a claim, by its replay string. What it tells, and its picture."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from .. import viz
from ..checks import judge
from ..drills.drill import Drill
from ..stories import replay
from ..timeline import Timeline
from ..verdict import Verdict


@dataclass(frozen=True)
class Proof:
    """A run, and what it breaks."""

    run: str
    timeline: Timeline
    broken: tuple[Verdict, ...]

    def __str__(self) -> str:
        judged = [f"Broken: {verdict.claim}" for verdict in self.broken] or ["Nothing is broken in this run."]
        return "\n".join([f"The run {self.run}", self.timeline.tell(), *judged])

    def save(self, folder: Path) -> Path:
        """The picture, as an .svg file in `folder`, which is made if need be. Raises OSError where it cannot be."""
        folder.mkdir(parents=True, exist_ok=True)
        name = re.sub(r"[^A-Za-z0-9]+", "-", self.run).strip("-")
        return viz.save(self.timeline, folder / f"{name}.svg", self.broken)


def prove(run: str) -> Proof:
    """Plays the run of this replay string."""
    timeline = replay(run)
    return Proof(run, timeline, judge(timeline).broken)


def claim(drill: Drill, kind: str, number: int) -> tuple[str, ...]:
    """The runs that show key point ("k") or wrong answer ("w") `number`; none, if no run does."""
    return drill.rubric.proofs.get(f"{kind}{number}", ())
