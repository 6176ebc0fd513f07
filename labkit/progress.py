"""What the learner said before each run, and what the run said: one readable JSON file, `progress.json`.

A prediction is on disk before the run can answer it; saying it anew adds to the history and overwrites nothing.
The file lies in LABKIT_HOME, else in the user's data folder; it is replaced whole, under a lock, so that neither a
crash nor a second notebook tears it. What this version does not know is kept as it is, what cannot be read is put
aside and said, and where nothing can be written the course goes on in memory. Two files are merged by joining their
lists. Times are UTC. It does not grade: a wrong prediction is the best start of a lesson.
It leans on nothing else of labkit, hence its length: predictions first, then answers, then the file and its lock.
"""

import contextlib
import json
import math
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import platformdirs

if sys.platform == "win32":
    import msvcrt

    def _try_lock(file: int) -> None:
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _try_lock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


Answer = str | int | float | bool
T = TypeVar("T")

PATIENCE = 5.0  # seconds to wait for another process that writes; a write takes milliseconds
QUESTION = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)+")


class Sentence(str):
    """A string that shows itself as it is at the end of a cell, without quotation marks."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class Table(Sentence):
    """A Markdown table: drawn in a notebook, readable as it stands in a shell."""

    __slots__ = ()

    def _repr_markdown_(self) -> str:
        return str(self)


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
        return None if self.outcome is None else _same(self.answer, self.outcome)

    def __repr__(self) -> str:
        return f"You predict {self.answer!r} for {self.question}{self._sure()}."

    def _sure(self) -> str:
        return "" if self.confidence is None else f" ({self.confidence} % sure)"

    def verdict(self) -> Sentence:
        """Answer and outcome in one sentence."""
        said = f"You said {self.answer!r}{self._sure()}"
        if self.right:
            return Sentence(f"{said}, and so says the run.")
        odd = self.choices and not any(_same(self.outcome, choice) for choice in self.choices)
        return Sentence(f"{said}; the run says {self.outcome!r}{', which was not among the choices' if odd else ''}.")


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
            _examine("answer to", question, "")
            return _unanswered(question, choices)
        _examine("answer to", question, answer)
        _examine_choice(question, answer, choices, confidence)
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
        _change(self.path, lambda document: document["predictions"].append(entry))
        return _prediction(entry)

    def settle(self, question: str, outcome: Answer) -> Sentence:
        """Note what the run said to the latest prediction, and say both in one sentence.

        A prediction has one outcome: a second run with another result adds an entry of its own.
        """
        _examine("outcome of", question, outcome)
        settled = _change(self.path, lambda document: _settle(document["predictions"], question, outcome))
        if settled is None:
            return Sentence(f"You made no prediction for {question}; the run says {outcome!r}.")
        return settled.verdict()

    def predictions(self) -> tuple[Prediction, ...]:
        """All predictions in the order they were made; entries that this version cannot read are left out."""
        if self.path not in _in_memory and not os.path.exists(self.path):
            return ()
        entries = _change(self.path, lambda document: list(document["predictions"]))
        return tuple(_prediction(entry) for entry in entries if _readable(entry))

    def summary(self) -> Table:
        """Your progress: a table of the latest prediction of each question. It holds no dates."""
        latest = {prediction.question: prediction for prediction in self.predictions()}
        if not latest:
            return Table("Your progress: no predictions yet.")
        rows = [latest[question] for question in sorted(latest)]
        right = sum(row.right is True for row in rows)
        settled = sum(row.right is not None for row in rows)
        head = f"Your progress: {len(rows)} predicted, {settled} settled by a run, {right} right."
        lines = ["| question | you said | sure | the run says |", "| --- | --- | --- | --- |", *map(_row, rows)]
        return Table("\n".join([head, "", *lines]))


def predict(
    question: str, answer: Answer | None, choices: Sequence[Answer] | None = None, confidence: int | None = None
) -> Prediction | Sentence:
    """Store a prediction before the run: see `Progress.predict`."""
    return Progress.open().predict(question, answer, choices, confidence)


def settle(question: str, outcome: Answer) -> Sentence:
    """Compare the latest prediction with the run: see `Progress.settle`."""
    return Progress.open().settle(question, outcome)


def summary() -> Table:
    """Your progress as a table: see `Progress.summary`."""
    return Progress.open().summary()


# --- answers


def _examine(what: str, question: object, value: object) -> None:
    if not (isinstance(question, str) and QUESTION.fullmatch(question)):
        raise ValueError(f"The question is {question!r}; it must be a notebook and a name, like '02.crash'.")
    if not isinstance(value, Answer) or (isinstance(value, float) and not math.isfinite(value)):
        raise ValueError(f"The {what} {question} is {value!r}; it must be a text, a finite number, True or False.")


def _unanswered(question: str, choices: Sequence[Answer] | None) -> Sentence:
    allowed = "your answer" if choices is None else "one of " + ", ".join(map(repr, choices))
    return Sentence(f"No prediction for {question} yet: put {allowed} in place of None, and run this cell again.")


def _examine_choice(question: str, answer: object, choices: Sequence[Answer] | None, confidence: object) -> None:
    if choices is not None and not any(_same(answer, choice) for choice in choices):
        allowed = ", ".join(map(repr, choices))
        raise ValueError(f"The answer to {question} is {answer!r}; it must be one of: {allowed}.")
    if confidence is not None and not (type(confidence) is int and 0 <= confidence <= 100):
        raise ValueError(f"The confidence for {question} is {confidence!r}; it must be a whole number from 0 to 100.")


def _same(one: object, other: object) -> bool:
    """Equality of answers: 1 is 1.0, but it is not True."""
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def _settle(entries: list[Any], question: str, outcome: Answer) -> Prediction | None:
    """Write the outcome into the latest entry of the question, or into a copy when that has another already."""
    mine = [entry for entry in entries if _readable(entry) and entry["question"] == question]
    if not mine:
        return None
    entry = mine[-1]
    if entry.get("outcome") is not None and not _same(entry["outcome"], outcome):
        entry = dict(entry, outcome=None)
        entries.append(entry)
    if entry.get("outcome") is None:
        entry.update(outcome=outcome, settled=_now())
    return _prediction(entry)


def _readable(entry: Any) -> bool:
    """Whether an entry has what a prediction needs; it may have been edited by hand or by a newer version."""
    try:
        _examine("answer to", entry["question"], entry["answer"])
    except (TypeError, KeyError, IndexError, ValueError):
        return False
    return True


def _prediction(entry: dict[str, Any]) -> Prediction:
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


def _row(row: Prediction) -> str:
    sure = "" if row.confidence is None else f"{row.confidence} %"
    outcome = "not run yet" if row.right is None else f"{'✓ the same' if row.right else f'✗ {row.outcome}'}"
    cells = [str(cell).replace("\\", "\\\\").replace("|", "\\|") for cell in (row.question, row.answer, sure, outcome)]
    return "| " + " | ".join(" ".join(cell.split()) for cell in cells) + " |"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


# --- the file


def _home() -> Path:
    home = os.environ.get("LABKIT_HOME")
    return Path(home).expanduser() if home else platformdirs.user_data_path("redis-lock-lab", appauthor=False)


_in_memory: dict[Path, dict[str, Any]] = {}  # the documents that could not be written; they live as long as we do


def _change(path: Path, change: Callable[[dict[str, Any]], T]) -> T:
    """Read, change and replace the file under its lock; where that fails, say so and go on in memory."""
    if path not in _in_memory:
        try:
            with _locked(path):
                return _change_file(path, change)
        except OSError as error:
            print(
                f"Your progress cannot be saved to {path} ({error.strerror or error}), so it is kept in memory until "
                "this Python ends; set LABKIT_HOME to a folder that can be written.",
                file=sys.stderr,
            )
            _in_memory[path] = _empty()
            with contextlib.suppress(OSError):
                _in_memory[path] = _read(path)[1] or _empty()
    return change(_in_memory[path])


def _change_file(path: Path, change: Callable[[dict[str, Any]], T]) -> T:
    exists, document = _read(path)
    if exists and document is None:
        _put_aside(path)
    document = document or _empty()
    result = change(document)
    if document != (_read(path)[1] or _empty()):  # to look at it is no reason to rewrite it
        text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
        _replace(Path(os.path.realpath(path)), text.encode("utf-8", "backslashreplace"))
    return result


def _read(path: Path) -> tuple[bool, dict[str, Any] | None]:
    """Whether there is a file, and what it says; None when it cannot be understood."""
    try:
        raw = path.read_bytes()
    except FileNotFoundError:  # any other trouble must not end in an empty file over a full one
        return False, None
    with contextlib.suppress(ValueError, RecursionError):
        document = json.loads(raw.decode("utf-8-sig"))
        if isinstance(document, dict) and isinstance(document.setdefault("predictions", []), list):
            return True, document
    return True, None


def _empty() -> dict[str, Any]:
    return {"format": 1, "predictions": []}


def _put_aside(path: Path) -> None:
    """Keep a file that cannot be read, under the first free name: somebody may still repair it by hand."""
    number = 1
    while (aside := path.with_name(f"{path.name}.corrupt-{number}")).exists():
        number += 1
    path.rename(aside)
    sentence = f"Your progress in {path} could not be read, so it is kept as {aside.name} and a new file is begun."
    print(sentence, file=sys.stderr)


def _replace(path: Path, content: bytes) -> None:
    """Put the new file in the place of the old in one step, once it is safely on disk."""
    handle, name = tempfile.mkstemp(prefix=".progress-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One writer at a time; the system takes the lock from a process that dies, so that none is ever stale."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = os.open(path.with_name(".progress.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _wait_for(file)
        yield
    finally:
        os.close(file)


def _wait_for(file: int) -> None:
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return _try_lock(file)
        except (BlockingIOError, PermissionError):
            if time.monotonic() > end:
                raise TimeoutError(f"another process has been writing there for {PATIENCE:g} seconds") from None
        except OSError:
            return None  # a file system without locks: that the file is replaced whole must do
        time.sleep(0.01)
