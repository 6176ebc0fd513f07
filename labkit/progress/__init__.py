"""What the learner did, in one readable JSON file, `progress.json`: predictions, attempts, hints, resets, interviews.

A prediction is on disk before the run can answer it; saying it anew adds to the history and overwrites nothing, and so
it is with attempts and hints. The file lies in LABKIT_HOME, else in the user's data folder; how it is kept whole, and
what happens where it cannot be, stands in `jsonfile`. What this version does not know is kept as it is, and an entry
that it cannot read is skipped. Times are UTC. It does not grade: a wrong prediction is the best start of a lesson, and
points come from the checks. Each function here is the method of `Progress` of its name, on the learner's own file.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

# `scoreboard` is not among these: it draws with rich, and no notebook has to wait for that.
from .entries import DRILL, FINDINGS, QUESTION, Answer, Attempt, Prediction, by_number
from .interviews import Reply, Review
from .logbook import BLANK, Progress
from .record import LISTS, Record
from .words import Sentence, Table

__all__ = ["BLANK", "DRILL", "FINDINGS", "LISTS", "QUESTION", "Answer", "Attempt", "Prediction", "Progress", "Record"]
__all__ += [
    "Reply",
    "Review",
    "Sentence",
    "Table",
    "attempts",
    "best",
    "by_number",
    "calibration",
    "hints_taken",
    "merge",
]
__all__ += [
    "note_attempt",
    "note_hint",
    "note_model_answer",
    "note_reset",
    "overview",
    "predict",
    "settle",
    "summary",
    "tries",
]


def predict(
    question: str, answer: Answer | None, choices: Sequence[Answer] | None = None, confidence: int | None = None
) -> Prediction | Sentence:
    """Store a prediction before the run: see `Progress.predict`."""
    return Progress.open().predict(question, answer, choices, confidence)


def settle(question: str, outcome: Answer) -> Sentence:
    """Compare the latest prediction with the run: see `Progress.settle`."""
    return Progress.open().settle(question, outcome)


def note_attempt(
    question: str, score: float, of: float, findings: Mapping[str, str], seed: int | None = None
) -> Attempt:
    """Store what the checks said of an answer: see `Progress.note_attempt`."""
    return Progress.open().note_attempt(question, score, of, findings, seed)


def note_hint(question: str, number: int) -> None:
    """Store that a hint was taken: see `Progress.note_hint`."""
    Progress.open().note_hint(question, number)


def note_model_answer(question: str) -> None:
    """Store that the model answer was looked at: see `Progress.note_model_answer`."""
    Progress.open().note_model_answer(question)


def note_reset(question: str) -> None:
    """Store that an exercise was set back: see `Progress.note_reset`."""
    Progress.open().note_reset(question)


def attempts(question: str | None = None) -> tuple[Attempt, ...]:
    """All attempts, or those at one question: see `Progress.attempts`."""
    return Progress.open().attempts(question)


def tries(question: str) -> int:
    """How many own attempts a question has seen: see `Progress.tries`."""
    return Progress.open().tries(question)


def best(question: str) -> Attempt | None:
    """The best own attempt at a question: see `Progress.best`."""
    return Progress.open().best(question)


def hints_taken(question: str) -> int:
    """The highest number of a hint that was taken: see `Progress.hints_taken`."""
    return Progress.open().hints_taken(question)


def summary() -> Table:
    """Your predictions as a table: see `Progress.summary`."""
    return Progress.open().summary()


def calibration() -> Sentence:
    """How sure you were, and how often right: see `Progress.calibration`."""
    return Progress.open().calibration()


def overview() -> Table:
    """Your predictions and answers as tables: see `Progress.overview`."""
    return Progress.open().overview()


def merge(other: str | Path) -> Sentence:
    """Add what another progress file holds: see `Progress.merge`."""
    return Progress.open().merge(other)
