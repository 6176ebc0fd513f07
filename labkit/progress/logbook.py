"""`Progress`: the learner's file, read and written entry by entry.

What is noted is on disk when the method returns; what is refused raises first and leaves the file as it was. Nothing is
remembered between two calls, so that several notebooks can share the file; only where `jsonfile` cannot write, which it
says, it remembers for them and tries again with the next call. An entry is added and never taken away; the one change
to an old one is that a run settles it.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import platformdirs

from . import jsonfile
from .entries import (
    Answer,
    Attempt,
    Prediction,
    examine_attempt,
    examine_choice,
    examine_drill,
    examine_hint,
    examine_value,
    is_prediction,
    same,
    to_attempt,
    to_prediction,
)
from .interviews import Reply, Review, examine_reply, examine_review
from .record import Record, entries_in, foreign
from .words import Sentence, Table, count

BLANK: Mapping[str, Any] = {"format": 1, "predictions": []}  # the other lists begin with their first entry
COUNTED = {
    "predictions": "prediction",
    "attempts": "attempt",
    "hints": "hint",
    "replies": "reply",
    "reviews": "review",
}  # what `merge` counts, and the word for one of each


@dataclass(frozen=True)
class Progress:
    """The progress file at `path`; every method reads and writes it anew, so that notebooks can share it."""

    path: Path = field(default_factory=lambda: _home() / "progress.json")

    @classmethod
    def open(cls, home: str | Path | None = None) -> "Progress":
        """The file in `home`, else in LABKIT_HOME, else in the user's data folder. Nothing is created yet."""
        return cls() if home is None else cls(Path(home) / "progress.json")

    def predict(
        self,
        question: str,
        answer: Answer | None,
        choices: Sequence[Answer] | None = None,
        confidence: int | None = None,
    ) -> "Prediction | Sentence":
        """Store a prediction, and return it only when it is on disk.

        An `answer` of None stands for a question that nobody has answered yet: nothing is stored, and the sentence
        says what may be put in its place.

        Raises ValueError, naming the value and what is allowed, for an answer that is not among `choices`, a
        `confidence` that is no whole number from 0 to 100, or a `question` that is not like '02.crash'.
        """
        if answer is None:
            examine_value("answer to", question, "")
            return _unanswered(question, choices)
        examine_value("answer to", question, answer)
        examine_choice(question, answer, choices, confidence)
        entry = {
            "question": question,
            "notebook": question.partition(".")[0],
            "answer": answer,
            "choices": None if choices is None else list(choices),
            "confidence": confidence,
            "at": _now(),
            "outcome": None,
            "settled": None,
        }
        self._add("predictions", entry)
        return to_prediction(entry)

    def settle(self, question: str, outcome: Answer) -> Sentence:
        """Note what the run said to the latest prediction, and say both in one sentence.

        A prediction has one outcome: a second run with another result adds an entry of its own.
        """
        examine_value("outcome of", question, outcome)
        settled = jsonfile.change(
            self.path, BLANK, lambda document: _settle(document["predictions"], question, outcome)
        )
        if settled is None:
            return Sentence(f"You made no prediction for {question}; the run says {outcome!r}.")
        return settled.verdict()

    def note_attempt(
        self, question: str, score: float, of: float, findings: Mapping[str, str], seed: int | None = None
    ) -> Attempt:
        """Store what the checks said of an answer, and return it only when it is on disk.

        `findings` gives each check's name one of FINDINGS, `seed` is that of the runs.

        Raises ValueError, naming the value and what is allowed, for a `question` that is not like 'q1', points that
        are no finite numbers with 0 <= score <= of, no findings or others, or a `seed` that is no whole number.
        """
        examine_attempt(question, score, of, findings, seed)
        found = dict(findings)
        entry = {"question": question, "at": _now(), "score": score, "of": of, "findings": found, "seed": seed}
        self._add("attempts", entry)
        return to_attempt(entry)

    def note_hint(self, question: str, number: int) -> None:
        """Store that a hint was taken; `number` counts from 1. Raises ValueError for another, and as note_attempt."""
        examine_hint(question, number)
        self._add("hints", {"question": question, "at": _now(), "number": number})

    def note_model_answer(self, question: str) -> None:
        """Store that the model answer was looked at. Raises as note_attempt."""
        examine_drill(question)
        self._add("model_answers", {"question": question, "at": _now()})

    def note_reset(self, question: str) -> None:
        """Store that the exercise was set back to its beginning; attempts and hints stay. Raises as note_attempt."""
        examine_drill(question)
        self._add("resets", {"question": question, "at": _now()})

    def note_reply(self, reply: Reply) -> Reply:
        """Store what was said in an interview, with the time of now, and return it when it is on disk: before it is
        scored, so that no words get lost. Raises ValueError for what is no reply, see `Reply`."""
        reply = replace(reply, at=_now())
        examine_reply(reply)
        self._add("replies", asdict(reply))
        return reply

    def note_review(self, review: Review) -> Review:
        """Store how an answer was scored, as `note_reply` does. Raises ValueError for what is no review."""
        review = replace(review, at=_now())
        examine_review(review)
        self._add("reviews", asdict(review) | {"points": list(review.points), "wrong": list(review.wrong)})
        return review

    def record(self) -> Record:
        """What the file says now."""
        return Record.of(jsonfile.read(self.path, BLANK))

    def predictions(self) -> tuple[Prediction, ...]:
        """All predictions in the order they were made; entries that this version cannot read are left out."""
        return self.record().predictions

    def attempts(self, question: str | None = None) -> tuple[Attempt, ...]:
        """All attempts, or those at one question, in the order they were made, the untouched exercise included."""
        if question is not None:
            examine_drill(question)
        return tuple(attempt for attempt in self.record().attempts if question in (None, attempt.question))

    def tries(self, question: str) -> int:
        """How many own attempts a question has seen."""
        examine_drill(question)
        return len(self.record().own(question))

    def best(self, question: str) -> Attempt | None:
        """The best own attempt at a question, None before the first: see `Record.best`."""
        examine_drill(question)
        return self.record().best(question)

    def hints_taken(self, question: str) -> int:
        """The highest number of a hint that was taken, 0 before the first."""
        examine_drill(question)
        return self.record().hints.get(question, 0)

    def summary(self) -> Table:
        """Your predictions: see `Record.summary`."""
        return self.record().summary()

    def calibration(self) -> Sentence:
        """How sure you were, and how often right: see `Record.calibration`."""
        return self.record().calibration()

    def overview(self) -> Table:
        """Your predictions and answers: see `Record.overview`."""
        return self.record().overview()

    def merge(self, other: str | Path) -> Sentence:
        """Add what another progress file holds, as from a second machine, in the order of time and without doubles.

        Nothing is lost: entries that cannot be read are joined too, and the other file is not touched. Of what is no
        list, yours stays. Raises ValueError for a file that is no progress file.
        """
        theirs = foreign(Path(other))
        merged = jsonfile.change(self.path, BLANK, lambda document: jsonfile.join(document, theirs))
        *most, last = (count(len(entries_in(merged, name)), thing, name) for name, thing in COUNTED.items())
        return Sentence(f"{other} is joined to your progress, which has {', '.join(most)} and {last} now.")

    def _add(self, name: str, entry: dict[str, Any]) -> None:
        jsonfile.change(self.path, BLANK, lambda document: jsonfile.list_in(document, name).append(entry))


def _unanswered(question: str, choices: Sequence[Answer] | None) -> Sentence:
    allowed = "your answer" if choices is None else "one of " + ", ".join(map(repr, choices))
    return Sentence(f"No prediction for {question} yet: put {allowed} in place of None, and run this cell again.")


def _settle(entries: list[Any], question: str, outcome: Answer) -> Prediction | None:
    """Write the outcome into the latest entry of the question, or into a copy when that has another already."""
    mine = [entry for entry in entries if is_prediction(entry) and entry["question"] == question]
    if not mine:
        return None
    entry = mine[-1]
    if entry.get("outcome") is not None and not same(entry["outcome"], outcome):
        entry = dict(entry, outcome=None)
        entries.append(entry)
    if entry.get("outcome") is None:
        entry.update(outcome=outcome, settled=_now())
    return to_prediction(entry)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _home() -> Path:
    home = os.environ.get("LABKIT_HOME")
    return Path(home).expanduser() if home else platformdirs.user_data_path("redis-lock-lab", appauthor=False)
