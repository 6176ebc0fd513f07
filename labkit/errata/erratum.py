"""What an erratum is: a claim of the article, what is true instead, and the two runs that show it.

`wrong()` plays what the article says and comes back with a claim broken; `right()` plays the repair under the same
mishap, and the claim holds. Both compute what they say. An erratum that cannot be run here has no runs and says why,
and who found it out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..checks import judge
from ..stories import play
from ..verdict import Verdict

GRADES = {3: "wrong, and can corrupt data", 2: "wrong, or seriously incomplete", 1: "imprecise, or dated"}


@dataclass(frozen=True)
class Shown:
    """What a run showed. holds: whether the claim under test did.  why: a whole sentence with the run's own figures.
    again: the string for `labkit.replay`, where a story was played."""

    holds: bool | None
    why: str
    again: str = ""


Run = Callable[[], Shown]


@dataclass(frozen=True)
class Erratum:
    """number: as in E04.  grade: see GRADES.  section: of the article.  claim: what it says, in our words.  truth: what
    is right.  wrong, right: the counterexample and the repair.  where: the place in the course that teaches it.
    source: for one that is not run, why it cannot be and who says so; else the primary source, if any."""

    number: str
    grade: int
    section: str
    claim: str
    truth: str
    where: str
    wrong: Run | None = None
    right: Run | None = None
    source: str = ""


def played(story: str, check: str, **params: Any) -> Run:
    """A run that plays a story and asks one check, for example `played("late-release", "own_release", lock="safe")`."""

    def run() -> Shown:
        timeline = play(story, **params)
        (verdict,) = judge(timeline, check).verdicts
        return Shown(verdict.holds, verdict.why, timeline.token)

    return run


def compared(claim: bool, why: str) -> Shown:
    """What a run without a story has shown: a comparison that it has computed, and the sentence with its figures."""
    return Shown(claim, why)


def judged(verdict: Verdict, again: str = "") -> Shown:
    """What a check said of a run made by hand."""
    return Shown(verdict.holds, verdict.why, again)
