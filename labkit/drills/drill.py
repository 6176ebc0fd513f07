"""A question of the kit as a value, read from its folder.

    labkit/drills/q1/drill.toml    what is asked, which functions are judged by which checks, hints, rubric
    labkit/drills/q1/checks.py     the checks themselves, in TRIALS

So a question is one folder, and to add a question is to add a folder. Nothing here runs an answer.
"""

from __future__ import annotations

import importlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .trial import Trial

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Criterion:
    """One check as the learner knows it. of: the function it puts to the test.  asks: one sentence."""

    name: str
    points: int
    of: str
    asks: str


@dataclass(frozen=True)
class FollowUp:
    """What an interviewer asks next. story: the one whose run settles it."""

    asks: str
    story: str
    answer: str


@dataclass(frozen=True)
class Rubric:
    """How a spoken answer is scored. key_points: one point each.  wrong: what many say."""

    key_points: tuple[str, ...]
    wrong: tuple[str, ...]
    follow_ups: tuple[FollowUp, ...]


@dataclass(frozen=True)
class Drill:
    """name: "q1".  functions: what the learner writes, with the number of arguments.  minutes: of one sitting."""

    name: str
    title: str
    minutes: int
    question: str
    functions: Mapping[str, int]
    criteria: tuple[Criterion, ...]
    hints: tuple[str, ...]
    rubric: Rubric

    @property
    def points(self) -> int:
        return sum(criterion.points for criterion in self.criteria)

    @property
    def trials(self) -> Mapping[str, Trial]:
        """How each criterion is put to the test, by its name."""
        trials: Mapping[str, Trial] = importlib.import_module(f"labkit.drills.{self.name}.checks").TRIALS
        return trials


NAMES = tuple(sorted(place.parent.name for place in HERE.glob("q*/drill.toml")))


@cache
def load(question: str) -> Drill:
    """The question of this name. Raises ValueError that lists the names there are."""
    if question not in NAMES:
        raise ValueError(f"No question is called {question!r}; there are {', '.join(NAMES)}.")
    text = tomllib.loads((HERE / question / "drill.toml").read_text(encoding="utf-8"))
    return Drill(
        name=question,
        title=text["title"],
        minutes=text["minutes"],
        question=text["question"].strip(),
        functions=text["functions"],
        criteria=tuple(Criterion(**row) for row in text["criteria"]),
        hints=tuple(hint.strip() for hint in text["hints"]),
        rubric=_rubric(text["rubric"]),
    )


def _rubric(text: Mapping[str, Any]) -> Rubric:
    follow_ups = tuple(FollowUp(**row) for row in text["follow_ups"])
    return Rubric(tuple(text["key_points"]), tuple(text["wrong"]), follow_ups)
