"""A question of the kit as a value, read from its folder.

    labkit/drills/q1/drill.toml    what is asked, which functions are judged by which checks, hints, rubric
    labkit/drills/q1/checks.py     the checks themselves, in TRIALS
    labkit/drills/n1/drill.toml    an oral question: what is asked, and the rubric

So a question is one folder, and to add a question is to add a folder; the exercise, the interview, the rubric and the
deck are made from it. A card of the deck is known by its place in these lists: a key point, a wrong answer or a
follow-up is put at the end, never in between. Nothing here runs an answer.
"""

from __future__ import annotations

import importlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .trial import Trial

HERE = Path(__file__).parent
MINUTES = 10  # of an oral question: the answer, its score, a follow-up and its run


@dataclass(frozen=True)
class Criterion:
    """One check as the learner knows it. of: the function it puts to the test.  asks: one sentence."""

    name: str
    points: int
    of: str
    asks: str


@dataclass(frozen=True)
class FollowUp:
    """What an interviewer asks next. story: the one whose run settles it.  runs: the runs to be looked at, one after
    the other, as replay strings; without any, the story as it is.  after: for which missed key points it is asked."""

    asks: str
    story: str
    answer: str
    runs: tuple[str, ...] = ()
    after: tuple[int, ...] = ()

    @property
    def proof(self) -> tuple[str, ...]:
        """The replay strings of the runs that settle it."""
        return self.runs or (f"{self.story} #0",)


@dataclass(frozen=True)
class Rubric:
    """How a spoken answer is scored. key_points: one point each.  wrong: what many say.  proofs: for a key point ("k2")
    or a wrong answer ("w1") that a run can show, the replay strings of its runs."""

    key_points: tuple[str, ...]
    wrong: tuple[str, ...]
    follow_ups: tuple[FollowUp, ...]
    proofs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Drill:
    """name: "q1".  functions: what the learner writes, with the number of arguments, none for an oral question.
    minutes: of one sitting."""

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


NAMES = tuple(sorted(place.parent.name for place in HERE.glob("q*/drill.toml")))  # answered by code, and aloud
ORAL = tuple(sorted(place.parent.name for place in HERE.glob("n*/drill.toml")))  # answered aloud only


def load(question: str) -> Drill:
    """The question of this name that is answered by code. Raises ValueError that lists the names there are."""
    if question in ORAL:
        raise ValueError(f"{question} is an oral question: `labkit interview {question}` asks it; no code answers it.")
    if question not in NAMES:
        raise ValueError(f"No question is called {question!r}; there are {', '.join(NAMES)}.")
    return _read(question)


def spoken(question: str) -> Drill:
    """The question of this name that can be asked aloud: each of them. Raises ValueError that lists the names."""
    if question not in (*ORAL, *NAMES):
        raise ValueError(f"No question is called {question!r}; there are {', '.join((*ORAL, *NAMES))}.")
    return _read(question)


@cache
def _read(question: str) -> Drill:
    text = tomllib.loads((HERE / question / "drill.toml").read_text(encoding="utf-8"))
    return Drill(
        name=question,
        title=text["title"],
        minutes=text.get("minutes", MINUTES),
        question=text["question"].strip(),
        functions=text.get("functions", {}),
        criteria=tuple(Criterion(**row) for row in text.get("criteria", ())),
        hints=tuple(hint.strip() for hint in text.get("hints", ())),
        rubric=_rubric(text["rubric"]),
    )


def _rubric(text: Mapping[str, Any]) -> Rubric:
    follow_ups = tuple(FollowUp(**{name: _frozen(value) for name, value in row.items()}) for row in text["follow_ups"])
    proofs = {claim: tuple(runs) for claim, runs in text.get("proofs", {}).items()}
    return Rubric(tuple(text["key_points"]), tuple(text["wrong"]), follow_ups, proofs)


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
