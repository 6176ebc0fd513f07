"""For whoever leads a workshop: a folder of many learners' progress files as one table.

It reads every .json file below the folder, hidden folders left out, and writes nothing, not even a repair. A learner is
called as the file is, or as its folder where the file is called progress.json. A file that cannot be read, or is no
progress file, costs a sentence and never the table. It ranks nobody: rows are in the order of names.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from .entries import by_number
from .record import Record
from .words import count

FORMULA = ("=", "+", "-", "@", "\t")  # how a text begins that a spreadsheet would run
NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")
WIDTH, SCORE, SUMS = 80, 6, 24  # columns of a terminal, of a score, and of the four sums, gaps included


@dataclass(frozen=True)
class Standing:
    """Where a learner stands with one question: the best attempt's points (None before the first), own attempts, and
    the highest number of a hint taken."""

    score: float | None
    of: float | None
    attempts: int
    hints: int

    @property
    def points(self) -> str:
        """The score as it is written: 14/20, and a dash before the first attempt."""
        return "–" if self.score is None else f"{self.score:g}/{self.of:g}"


NOTHING = Standing(None, None, 0, 0)


@dataclass(frozen=True)
class Row:
    """One learner. `path` is the file, seen from the board's folder; `standings` go by question.

    Predictions are the latest of each question: `predicted`, of these `settled` by a run, of these `right`.
    `confidence` is the mean, in percent, over those settled ones that were given with one, None where there is none.
    """

    learner: str
    path: str
    standings: Mapping[str, Standing] = field(hash=False)
    predicted: int
    settled: int
    right: int
    confidence: float | None

    def standing(self, question: str) -> Standing:
        """Where the learner stands with a question that others at least have begun."""
        return self.standings.get(question, NOTHING)


@dataclass(frozen=True)
class Board:
    """All learners of a folder by name, and a sentence for each file that was left out."""

    folder: str
    rows: tuple[Row, ...]
    skipped: tuple[str, ...]

    @property
    def questions(self) -> tuple[str, ...]:
        """The questions that anybody has attempted or asked a hint for, q2 before q10."""
        return tuple(sorted({question for row in self.rows for question in row.standings}, key=by_number))

    @property
    def sentence(self) -> str:
        """What was found, in one sentence."""
        left_out = f" Left out: {count(len(self.skipped), 'other file')}." if self.skipped else ""
        if not self.rows:
            return f"There is no learner's progress file (.json) in {self.folder}.{left_out}"
        return f"{count(len(self.rows), 'learner')}, {count(len(self.questions), 'question')}.{left_out}"

    def table(self) -> Table:
        """For a terminal of 80 columns: best scores; attempts and hints added up; how sure and how often right."""
        table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
        room = max(8, WIDTH - SUMS - SCORE * len(self.questions))
        table.add_column("learner", overflow="fold", max_width=room if self.rows else None)
        if not self.rows:
            table.show_header = False
            table.add_row(Text(self.sentence))
            return table
        for name in (*self.questions, "tries", "hints", "right", "sure"):
            table.add_column(name, justify="right", no_wrap=True)
        for row in self.rows:
            table.add_row(Text(row.learner), *self._cells(row))
        return table

    def _cells(self, row: Row) -> list[str]:
        standings = [row.standing(question) for question in self.questions]
        attempts, hints = sum(one.attempts for one in standings), sum(one.hints for one in standings)
        sure = "–" if row.confidence is None else f"{row.confidence:.0f} %"
        return [
            *(_narrow(one.points) for one in standings),
            str(attempts),
            str(hints),
            f"{row.right}/{row.settled}",
            sure,
        ]

    def csv(self) -> str:
        """For a spreadsheet. Score and points possible are two columns, for 7/12 would become a date there; a text that
        a spreadsheet would run as a formula begins with an apostrophe."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        parts = ("score", "of", "attempts", "hints")
        head = [f"{question} {part}" for question in self.questions for part in parts]
        writer.writerow(["learner", *head, "predicted", "settled", "right", "mean confidence", "file"])
        for row in self.rows:
            writer.writerow([_inert(cell) for cell in self._line(row)])
        return text.getvalue()

    def _line(self, row: Row) -> Iterator[object]:
        yield row.learner
        for question in self.questions:
            yield from asdict(row.standing(question)).values()
        yield from (row.predicted, row.settled, row.right, row.confidence, row.path)

    def as_dict(self) -> dict[str, Any]:
        """For a program: the same as plain lists, names and numbers."""
        rows = [asdict(row) for row in self.rows]
        return {"folder": self.folder, "questions": list(self.questions), "learners": rows, "skipped": self.skipped}


def scoreboard(folder: str | Path) -> Board:
    """The board of all progress files in `folder` and below it. Raises ValueError for a folder that is none."""
    root = Path(folder)
    if not root.is_dir():
        raise ValueError(f"There is no folder {str(folder)!r}; name the one that holds the learners' progress files.")
    records, skipped = dict[Path, Record](), list[str]()
    for path in _candidates(root):
        try:
            records[path] = Record.load(path)
        except ValueError as error:
            skipped.append(_printable(str(error)))
    rows = [_row(name, path.relative_to(root), records[path]) for path, name in _names(root, list(records)).items()]
    return Board(
        _printable(str(folder)), tuple(sorted(rows, key=lambda row: (row.learner.casefold(), row.path))), tuple(skipped)
    )


def _candidates(root: Path) -> list[Path]:
    """Every .json file, without what lies in hidden folders: there a notebook server keeps old copies."""
    found = (path for path in root.rglob("*") if path.suffix.lower() == ".json" and path.is_file())
    return sorted(path for path in found if not any(part.startswith(".") for part in path.relative_to(root).parts))


def _names(root: Path, paths: list[Path]) -> dict[Path, str]:
    """The learner of each file; two of the same name are told apart by their path."""
    plain = {path: _printable(_name(path)) for path in paths}
    times = Counter(plain.values())
    return {
        path: name if times[name] == 1 else f"{name} ({_printable(path.relative_to(root).as_posix())})"
        for path, name in plain.items()
    }


def _name(path: Path) -> str:
    return path.parent.resolve().name if path.name == "progress.json" else path.stem


def _row(learner: str, path: Path, record: Record) -> Row:
    latest, sure = record.latest(), [row.confidence or 0 for row in record.sure()]
    return Row(
        learner=learner,
        path=_printable(path.as_posix()),
        standings={question: _standing(record, question) for question in record.questions()},
        predicted=len(latest),
        settled=sum(row.right is not None for row in latest),
        right=sum(row.right is True for row in latest),
        confidence=round(sum(sure) / len(sure), 1) if sure else None,
    )


def _standing(record: Record, question: str) -> Standing:
    best = record.best(question)
    score, of = (best.score, best.of) if best else (None, None)
    return Standing(score, of, len(record.own(question)), record.hints.get(question, 0))


def _narrow(points: str) -> str:
    """Points that are longer than 14/20 take two lines, so that seven questions fit."""
    return points if len(points) < SCORE else points.replace("/", "/\n")


def _inert(cell: object) -> object:
    """A cell that a spreadsheet shows and does not run; a plain number stays one."""
    runs = isinstance(cell, str) and cell.startswith(FORMULA) and not NUMBER.fullmatch(cell)
    return f"'{cell}" if runs else cell


def _printable(text: str) -> str:
    """A file's name may hold what moves a cursor or cannot be encoded; that is shown by its number. Two characters that
    show nothing belong to names: they join and part letters in Persian and Hindi."""
    return "".join(
        one if one.isprintable() or one in "\u200c\u200d" else one.encode("unicode_escape").decode("ascii")
        for one in text
    )
