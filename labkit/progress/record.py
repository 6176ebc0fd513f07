"""What one progress file says, as a value: the entries that this version can read, and all that is told of them.

It is computed from the document and holds none of it; neither the document nor its file is changed. `foreign` reads a
file that may be anybody's. Tables hold no dates, so that a saved notebook does not change from day to day.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import jsonfile
from .entries import (
    Attempt,
    Prediction,
    by_number,
    is_attempt,
    is_hint,
    is_named,
    is_percent,
    is_prediction,
    to_attempt,
    to_prediction,
)
from .interviews import Reply, Review, is_reply, is_review, to_reply, to_review
from .words import Sentence, Table, count, markdown

LISTS = ("predictions", "attempts", "hints", "model_answers", "resets", "replies", "reviews")


@dataclass(frozen=True)
class Record:
    """What one progress file says, as far as this version can read it: in the order in which it was written.

    `hints` is the highest number taken, by question; `opened` are the questions whose model answer was looked at. An
    attempt that is not the learner's own counts nowhere here. `replies` and `reviews` are those of mock interviews, the
    reviews by time.
    """

    predictions: tuple[Prediction, ...]
    attempts: tuple[Attempt, ...]
    hints: Mapping[str, int] = field(hash=False)
    opened: frozenset[str] = frozenset()
    replies: tuple[Reply, ...] = ()
    reviews: tuple[Review, ...] = ()

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> "Record":
        """What a document holds; entries that cannot be read are left out."""
        predictions = (to_prediction(entry) for entry in entries_in(document, "predictions") if is_prediction(entry))
        attempts = (to_attempt(entry) for entry in entries_in(document, "attempts") if is_attempt(entry))
        hints: dict[str, int] = {}
        for entry in filter(is_hint, entries_in(document, "hints")):
            hints[entry["question"]] = max(entry["number"], hints.get(entry["question"], 0))
        opened = (entry for entry in entries_in(document, "model_answers") if is_named(entry))
        return cls(
            tuple(predictions),
            tuple(attempts),
            hints,
            frozenset(entry["question"] for entry in opened),
            tuple(to_reply(entry) for entry in entries_in(document, "replies") if is_reply(entry)),
            tuple(sorted(_reviews(document), key=lambda review: review.when)),
        )

    @classmethod
    def load(cls, path: Path) -> "Record":
        """What anybody's file says; the file is not touched.

        Raises ValueError, in a sentence that names the file, for one that is no progress file or cannot be read.
        """
        return cls.of(foreign(path))

    def latest(self) -> tuple[Prediction, ...]:
        """The latest prediction of each question, by the question's name."""
        latest = {prediction.question: prediction for prediction in self.predictions}
        return tuple(latest[question] for question in sorted(latest))

    def sure(self) -> tuple[Prediction, ...]:
        """Those of the latest predictions that a run has settled and that were given with a confidence."""
        return tuple(row for row in self.latest() if row.right is not None and is_percent(row.confidence))

    def questions(self) -> tuple[str, ...]:
        """The exercises that were attempted or asked for a hint, q2 before q10."""
        known = {attempt.question for attempt in self.attempts if attempt.own} | set(self.hints)
        return tuple(sorted(known, key=by_number))

    def own(self, question: str) -> tuple[Attempt, ...]:
        """The learner's own attempts at a question."""
        return tuple(attempt for attempt in self.attempts if attempt.own and attempt.question == question)

    def best(self, question: str) -> Attempt | None:
        """The own attempt with the largest share of its points, the latest of several; None before the first."""
        shares = [(attempt.score / (attempt.of or 1), n) for n, attempt in enumerate(self.own(question))]
        return self.own(question)[max(shares)[1]] if shares else None

    def summary(self) -> Table:
        """A table of the latest prediction of each question. It holds no dates."""
        rows = self.latest()
        if not rows:
            return Table("Your progress: no predictions yet.")
        right = sum(row.right is True for row in rows)
        settled = sum(row.right is not None for row in rows)
        head = f"Your progress: {len(rows)} predicted, {settled} settled by a run, {right} right."
        cells = [("question", "you said", "sure", "the run says"), *map(_row, rows)]
        return Table(f"{head}\n\n{markdown(cells)}")

    def answers(self) -> Table:
        """A table of the exercises: attempts, best score, hints, and what the last attempt lost. It holds no dates."""
        if not self.questions():
            return Table("Your answers: no attempts yet.")
        attempts = sum(attempt.own for attempt in self.attempts)
        head = f"Your answers: {count(attempts, 'attempt')} at {count(len(self.questions()), 'question')}."
        rows = [self._answer(question) for question in self.questions()]
        return Table(f"{head}\n\n{markdown([('question', 'attempts', 'best', 'hints', 'lost last time'), *rows])}")

    def _answer(self, question: str) -> tuple[object, ...]:
        own, best, hints = self.own(question), self.best(question), self.hints.get(question, 0)
        opened = ", and the answer" if question in self.opened else ""
        lost = ", ".join(own[-1].lost) or "nothing" if own else ""
        return question, len(own), best.points if best else "not attempted", f"{hints}{opened}", lost

    def calibration(self) -> Sentence:
        """How sure the learner was on average, and how often right, over the predictions of `sure`."""
        rows = self.sure()
        if not rows:
            return Sentence("Settled predictions with a confidence: none yet.")
        mean = sum(row.confidence or 0 for row in rows) / len(rows)
        right = sum(row.right is True for row in rows)
        share = f"{right} of {len(rows)} ({100 * right / len(rows):.0f} %)"
        return Sentence(
            f"Settled predictions with a confidence: {len(rows)}. You were {mean:.0f} % sure on average, and right in "
            f"{share}."
        )

    def overview(self) -> Table:
        """The whole: predictions, answers, how sure the learner was, interviews. It holds no dates."""
        parts = [self.summary(), self.answers(), *([self.calibration()] if self.sure() else [])]
        return Table("\n\n".join([*parts, *([self.interviewed()] if self.replies else [])]))

    def interviewed(self) -> Sentence:
        """How many interviews there were, and how many answers."""
        sittings = len({reply.interview for reply in self.replies})
        answers = sum(reply.follow_up == 0 for reply in self.replies)
        return Sentence(
            f"Your mock interviews: {sittings}, with {count(answers, 'answer')}. `labkit interview --history` has more."
        )


def _row(row: Prediction) -> tuple[object, ...]:
    sure = "" if row.confidence is None else f"{row.confidence} %"
    outcome = "not run yet" if row.right is None else f"{'✓ the same' if row.right else f'✗ {row.outcome}'}"
    return row.question, row.answer, sure, outcome


def _reviews(document: Mapping[str, Any]) -> Iterator[Review]:
    return (to_review(entry) for entry in entries_in(document, "reviews") if is_review(entry))


# --- the document


def entries_in(document: Mapping[str, Any], name: str) -> list[Any]:
    """A list of the document as it stands, none for something else in its place."""
    value = document.get(name)
    return value if isinstance(value, list) else []


def foreign(path: Path) -> dict[str, Any]:
    """The document of a file that may be anybody's.

    Raises ValueError, in a sentence that names the file, for one that is no progress file or cannot be read.
    """
    try:
        document = jsonfile.load(path, {})
    except OSError as error:
        raise ValueError(f"{path} cannot be read ({error.strerror or error}).") from error
    if document is None:
        raise ValueError(f"There is no file {path}.")
    if not any(isinstance(document.get(name), list) for name in LISTS):
        raise ValueError(f"{path} is no progress file: it lists no predictions and no attempts.")
    return document
