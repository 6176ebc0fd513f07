"""One entry of the progress file: the two values that it is read as, what makes it readable, and what is refused.

A `Prediction` answers a question of a notebook, an `Attempt` an exercise; both are read from a JSON object that a
person or a newer version may have edited, so that `is_…` comes before `to_…`. To `examine` is stricter: it is for what
is about to be written, and says in a sentence what is allowed. Nothing here knows of a file.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .words import Sentence

Answer = str | int | float | bool

QUESTION = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)+")  # of a notebook, answered by a prediction
DRILL = re.compile(r"q[0-9]{1,3}")  # of the exercises, answered by code
FINDINGS = ("pass", "fail", "error", "time-out", "memory", "not attempted", "not tested")


@dataclass(frozen=True, repr=False)
class Prediction:
    """One answer to one question (`question` starts with its notebook, as in 02.crash), given at `at` (UTC).

    `confidence` is in percent; `outcome` and `settled` (UTC) are None until the run has spoken.
    """

    question: str
    answer: Answer
    at: str
    choices: tuple[Answer, ...] | None = None
    confidence: int | None = None
    outcome: Answer | None = None
    settled: str | None = None

    @property
    def notebook(self) -> str:
        """The notebook of the question: what stands before its first point."""
        return self.question.partition(".")[0]

    @property
    def right(self) -> bool | None:
        """Whether the run agreed; None while it has not spoken."""
        return None if self.outcome is None else same(self.answer, self.outcome)

    def __repr__(self) -> str:
        return f"You predict {self.answer!r} for {self.question}{self._sure()}."

    def _sure(self) -> str:
        return "" if self.confidence is None else f" ({self.confidence} % sure)"

    def verdict(self) -> Sentence:
        """Answer and outcome in one sentence."""
        said = f"You said {self.answer!r}{self._sure()}"
        if self.right:
            return Sentence(f"{said}, and so says the run.")
        odd = self.choices and not any(same(self.outcome, choice) for choice in self.choices)
        return Sentence(f"{said}; the run says {self.outcome!r}{', which was not among the choices' if odd else ''}.")


@dataclass(frozen=True, repr=False)
class Attempt:
    """One answer to one exercise (`question`, as q1), judged at `at` (UTC): `score` of `of` points, what each check
    found (by the check's name, in the order of the checks), and the seed of the runs, None where there was none."""

    question: str
    score: float
    of: float
    findings: Mapping[str, str] = field(hash=False)
    seed: int | None
    at: str

    @property
    def own(self) -> bool:
        """Whether anything was there to judge: False for an exercise that nobody has touched."""
        return any(finding != "not attempted" for finding in self.findings.values())

    @property
    def lost(self) -> tuple[str, ...]:
        """The names of the checks that were not passed."""
        return tuple(name for name, finding in self.findings.items() if finding != "pass")

    @property
    def points(self) -> str:
        """The score as it is written: 14/20."""
        return f"{self.score:g}/{self.of:g}"

    def __repr__(self) -> str:
        return f"{self.points} points for {self.question}."


# --- what is read


def is_prediction(entry: Any) -> bool:
    """Whether an entry has what a prediction needs; it may have been edited by hand or by a newer version."""
    return _passes(lambda: examine_value("answer to", entry["question"], entry["answer"]))


def is_attempt(entry: Any) -> bool:
    """The same of an attempt; words for a finding that only a newer version knows are taken as they are."""
    return _passes(lambda: _examine_points(entry["question"], entry["score"], entry["of"])) and _passes(
        lambda: _examine_texts(entry["question"], entry["findings"])
    )


def is_named(entry: Any) -> bool:
    """Whether an entry names an exercise."""
    return _passes(lambda: examine_drill(entry["question"]))


def is_hint(entry: Any) -> bool:
    """Whether an entry names the exercise and the number of a hint that was taken."""
    return _passes(lambda: examine_hint(entry["question"], entry["number"]))


def _passes(examine: Callable[[], None]) -> bool:
    """Whether an entry stands up to it; what has not even the fields of an entry does not."""
    try:
        examine()
    except (TypeError, KeyError, IndexError, ValueError):
        return False
    return True


def to_prediction(entry: dict[str, Any]) -> Prediction:
    """The value of an entry that `is_prediction`; fields that are not there are None."""
    choices = entry.get("choices")
    return Prediction(
        question=entry["question"],
        answer=entry["answer"],
        at=str(entry.get("at")),
        choices=tuple(choices) if isinstance(choices, list) else None,
        confidence=entry.get("confidence"),
        outcome=entry.get("outcome"),
        settled=entry.get("settled"),
    )


def to_attempt(entry: dict[str, Any]) -> Attempt:
    """The value of an entry that `is_attempt`."""
    return Attempt(
        question=entry["question"],
        score=entry["score"],
        of=entry["of"],
        findings=dict(entry["findings"]),
        seed=entry.get("seed"),
        at=str(entry.get("at")),
    )


# --- what is refused


def examine_value(what: str, question: object, value: object) -> None:
    """Raise ValueError for what is no question of a notebook, or no answer or outcome; `what` calls it by its name."""
    if not (isinstance(question, str) and QUESTION.fullmatch(question)):
        raise ValueError(f"The question is {question!r}; it must be a notebook and a name, like '02.crash'.")
    if not isinstance(value, Answer) or (isinstance(value, float) and not math.isfinite(value)):
        raise ValueError(f"The {what} {question} is {value!r}; it must be a text, a finite number, True or False.")


def examine_choice(question: str, answer: object, choices: Sequence[Answer] | None, confidence: object) -> None:
    """Raise ValueError for an answer that was not offered, or a confidence that is no percentage; None asks nothing."""
    if choices is not None and not any(same(answer, choice) for choice in choices):
        allowed = ", ".join(map(repr, choices))
        raise ValueError(f"The answer to {question} is {answer!r}; it must be one of: {allowed}.")
    if confidence is not None and not is_percent(confidence):
        raise ValueError(f"The confidence for {question} is {confidence!r}; it must be a whole number from 0 to 100.")


def examine_drill(question: object) -> None:
    """Raise ValueError for what is no name of an exercise."""
    if not (isinstance(question, str) and DRILL.fullmatch(question)):
        raise ValueError(f"The question is {question!r}; it must be the name of an exercise, like 'q1'.")


MOST = 1e9  # points


def _examine_points(question: object, score: object, of: object) -> None:
    examine_drill(question)
    for what, value in (("score", score), ("number of points", of)):
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < MOST:
            raise ValueError(f"The {what} for {question} is {value!r}; it must be a finite number, 0 or more.")
    if score > of:  # type: ignore[operator]  # both are numbers by now
        raise ValueError(f"The score for {question} is {score!r}; it must be at most {of!r}, the number of points.")


def _examine_texts(question: object, findings: object) -> None:
    texts = isinstance(findings, Mapping) and all(isinstance(text, str) for pair in findings.items() for text in pair)
    if not findings or not texts:
        raise ValueError(f"The findings for {question} are {findings!r}; they must name each check and what it found.")


def examine_attempt(question: object, score: object, of: object, findings: Mapping[str, str], seed: object) -> None:
    """Raise ValueError for what cannot be noted as an attempt, in the order of the arguments."""
    _examine_points(question, score, of)
    _examine_texts(question, findings)
    for name, finding in findings.items():
        if finding not in FINDINGS:
            allowed = ", ".join(map(repr, FINDINGS))
            raise ValueError(f"The finding of {name!r} for {question} is {finding!r}; it must be one of: {allowed}.")
    if seed is not None and type(seed) is not int:
        raise ValueError(f"The seed for {question} is {seed!r}; it must be a whole number, or None for no seed.")


def examine_hint(question: object, number: object) -> None:
    """Raise ValueError for what is no name of an exercise, or no number of a hint."""
    examine_drill(question)
    if type(number) is not int or not 1 <= number < 100:
        raise ValueError(
            f"The number of the hint for {question} is {number!r}; it must be a whole number from 1 to 99."
        )


# --- what both need


def by_number(question: str) -> int:
    """The order of exercises: q2 before q10."""
    return int(question.removeprefix("q"))


def same(one: object, other: object) -> bool:
    """Equality of answers: 1 is 1.0, but it is not True."""
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def is_percent(value: object) -> bool:
    """Whether a confidence is a whole number from 0 to 100; True is none."""
    return type(value) is int and 0 <= value <= 100
