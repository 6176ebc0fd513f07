"""A folder of many learners' files becomes one table, whatever else lies there, and nothing in it is touched."""

import csv
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from labkit.progress import Progress
from labkit.progress.scoreboard import NOTHING, Board, Row, Standing, scoreboard

SEVEN = tuple(f"q{number}" for number in range(1, 8))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The leader's folder, empty at first; its own name is not a learner's by accident."""
    (tmp_path / "workshop").mkdir()
    return tmp_path / "workshop"


def learner(path: Path, *scores: tuple[str, float], hints: int = 0) -> Progress:
    """A progress file at `path` with an attempt of 20 points for each of `scores`."""
    progress = Progress(path)
    for question, score in scores:
        progress.note_attempt(question, score, 20, {"told once": "fail"})
    for number in range(1, hints + 1):
        progress.note_hint("q1", number)
    progress.path.with_name(".progress.lock").unlink()
    return progress


def row(name: str, **standings: Standing) -> Row:
    return Row(name, f"{name}.json", standings, predicted=0, settled=0, right=0, confidence=None)


def drawn(board: Board, width: int = 80) -> list[str]:
    console = Console(width=width, file=io.StringIO(), color_system=None, legacy_windows=False)
    console.print(board.table())
    return console.file.getvalue().splitlines()  # type: ignore[attr-defined]


def cells(board: Board) -> list[list[str]]:
    return list(csv.reader(io.StringIO(board.csv())))


def names(folder: Path) -> list[str]:
    return [one.learner for one in scoreboard(folder).rows]


# --- who is there


def test_a_learner_is_called_as_the_file_is(folder: Path) -> None:
    learner(folder / "mei.json", ("q1", 14))
    assert names(folder) == ["mei"]


def test_a_file_called_progress_takes_the_name_of_its_folder(folder: Path) -> None:
    learner(folder / "deep" / "mei" / "progress.json", ("q1", 14))
    assert names(folder) == ["mei"]


def test_so_does_one_in_the_folder_itself(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    learner(folder / "progress.json", ("q1", 14))
    monkeypatch.chdir(folder)
    assert names(Path(".")) == ["workshop"]


def test_two_of_the_same_name_are_told_apart_by_their_path(folder: Path) -> None:
    learner(folder / "monday" / "mei.json", ("q1", 14))
    learner(folder / "friday" / "mei" / "progress.json", ("q1", 3))
    assert names(folder) == ["mei (friday/mei/progress.json)", "mei (monday/mei.json)"]


def test_learners_come_by_name_whatever_its_case(folder: Path) -> None:
    for name in ("Zoe", "ada", "Mei"):
        learner(folder / f"{name}.json", ("q1", 14))
    assert names(folder) == ["ada", "Mei", "Zoe"]


def test_what_lies_in_a_hidden_folder_is_not_looked_at(folder: Path) -> None:
    learner(folder / ".ipynb_checkpoints" / "mei.json", ("q1", 14))
    assert scoreboard(folder) == Board(str(folder), (), ())


def test_a_hidden_folder_that_was_named_is_looked_at(folder: Path) -> None:
    learner(folder / ".handed-in" / "mei.json", ("q1", 14))
    assert names(folder / ".handed-in") == ["mei"]


@pytest.mark.skipif(sys.platform == "win32", reason="such a name cannot be given to a file there")
def test_a_name_that_would_move_the_cursor_is_shown_by_its_numbers(folder: Path) -> None:
    learner(folder / "a\x1b[2Jb\tc.json", ("q1", 14))
    assert names(folder) == ["a\\x1b[2Jb\\tc"]


# --- what is left out


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ('{"predictions": [', "broken.json cannot be read as JSON"),
        ("", "broken.json cannot be read as JSON"),
        ("[1, 2]", "broken.json holds JSON, but not an object with names."),
        ('{"cells": []}', "broken.json is no progress file: it lists no predictions and no attempts."),
    ],
)
def test_a_file_that_is_no_progress_costs_a_sentence_and_not_the_table(content: str, why: str, folder: Path) -> None:
    learner(folder / "mei.json", ("q1", 14))
    (folder / "broken.json").write_text(content)
    board = scoreboard(folder)
    assert [one.learner for one in board.rows] == ["mei"]
    (sentence,) = board.skipped
    assert why in sentence
    assert board.sentence == "1 learner, 1 question. Left out: 1 other file."


def test_a_file_that_may_not_be_read_costs_a_sentence(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    learner(folder / "mei.json", ("q1", 14))

    def denied(_: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", denied)
    assert scoreboard(folder).skipped == (f"{folder / 'mei.json'} cannot be read (Permission denied).",)


def test_what_is_no_json_file_is_not_mentioned(folder: Path) -> None:
    (folder / "notes.txt").write_text("{")
    (folder / "folder.json").mkdir()
    assert scoreboard(folder) == Board(str(folder), (), ())


def test_nothing_is_written_where_one_looks(folder: Path) -> None:
    learner(folder / "mei.json", ("q1", 14))
    (folder / "broken.json").write_text("{")
    before = {path: path.read_bytes() for path in folder.rglob("*")}
    scoreboard(folder)
    assert {path: path.read_bytes() for path in folder.rglob("*")} == before


def test_a_folder_that_is_none_is_refused(folder: Path) -> None:
    with pytest.raises(ValueError, match=r"^There is no folder '.*missing'; name the one that holds the learners'"):
        scoreboard(folder / "missing")


def test_a_file_is_no_folder(folder: Path) -> None:
    learner(folder / "mei.json", ("q1", 14))
    with pytest.raises(ValueError, match="There is no folder"):
        scoreboard(folder / "mei.json")


# --- what a row says


def test_a_row_has_best_score_attempts_and_hints_of_each_question(folder: Path) -> None:
    learner(folder / "mei.json", ("q1", 9), ("q1", 14), ("q1", 3), ("q10", 20), hints=2)
    (mei,) = scoreboard(folder).rows
    assert mei.standings == {"q1": Standing(14, 20, 3, 2), "q10": Standing(20, 20, 1, 0)}
    assert mei.standing("q1").points == "14/20"


def test_a_score_of_zero_is_zero_and_not_nothing(folder: Path) -> None:
    learner(folder / "mei.json", ("q1", 0))
    (mei,) = scoreboard(folder).rows
    assert (mei.standing("q1").points, mei.standing("q2").points) == ("0/20", "–")


def test_an_untouched_exercise_is_no_attempt(folder: Path) -> None:
    learner(folder / "mei.json", ("q1", 14)).note_attempt("q2", 0, 20, {"told once": "not attempted"})
    (mei,) = scoreboard(folder).rows
    assert mei.standing("q2") == NOTHING


def test_the_questions_are_those_that_anybody_began(folder: Path) -> None:
    learner(folder / "mei.json", ("q10", 14))
    learner(folder / "ada.json", ("q2", 14), hints=1)
    assert scoreboard(folder).questions == ("q1", "q2", "q10")


def test_a_row_counts_the_latest_predictions(folder: Path) -> None:
    progress = learner(folder / "mei.json", hints=1)
    for question, answer, confidence in [
        ("02.a", "yes", 90),
        ("02.b", "no", 55),
        ("02.b", "no", 60),
        ("02.c", "no", 10),
    ]:
        progress.predict(question, answer, confidence=confidence)
    for question in ("02.a", "02.b"):
        progress.settle(question, "yes")
    (mei,) = scoreboard(folder).rows
    assert (mei.predicted, mei.settled, mei.right, mei.confidence) == (3, 2, 1, 75.0)


def test_without_a_confidence_there_is_no_mean(folder: Path) -> None:
    learner(folder / "mei.json", hints=1).predict("02.a", "yes")
    (mei,) = scoreboard(folder).rows
    assert mei.confidence is None


# --- the table


def full(count: int, points: Standing) -> Board:
    """Learners with long names who did everything."""
    rows = [
        Row(f"Maximiliana-{n}-of-the-long-name", f"{n}.json", dict.fromkeys(SEVEN, points), 40, 40, 38, 100.0)
        for n in range(count)
    ]
    return Board("workshop", tuple(rows), ())


def test_seven_questions_fit_into_80_columns_and_lose_nothing() -> None:
    lines = drawn(full(3, Standing(20, 20, 9, 4)), width=200)
    assert max(map(len, lines)) == 80
    assert "…" not in "".join(lines) and "".join(lines).count("20/20") == 21


def test_longer_points_take_two_lines_and_fit_too() -> None:
    lines = drawn(full(3, Standing(13.5, 20, 99, 4)), width=200)
    assert max(map(len, lines)) == 80
    assert "…" not in "".join(lines) and "".join(lines).count("13.5/") == 21


def test_a_table_for_the_eye(folder: Path) -> None:
    learner(folder / "mei.json", ("q1", 9), ("q1", 14), ("q2", 0), hints=2)
    learner(folder / "ada.json", ("q2", 20))
    assert [line.split() for line in drawn(scoreboard(folder))] == [
        ["learner", "q1", "q2", "tries", "hints", "right", "sure"],
        ["ada", "–", "20/20", "1", "0", "0/0", "–"],
        ["mei", "14/20", "0/20", "3", "2", "0/0", "–"],
    ]


def test_a_name_is_no_markup() -> None:
    assert "[red]mei" in drawn(Board("workshop", (row("[red]mei"),), ()))[1]


def test_a_folder_without_learners_says_so(folder: Path) -> None:
    board = scoreboard(folder)
    assert board.sentence == f"There is no learner's progress file (.json) in {folder}."
    assert "".join(drawn(board, width=400)).strip() == board.sentence


def test_no_learner_and_a_file_left_out_are_both_said(folder: Path) -> None:
    (folder / "broken.json").write_text("{")
    assert scoreboard(folder).sentence.endswith(f"in {folder}. Left out: 1 other file.")


# --- for a spreadsheet and for a program


def test_a_spreadsheet_gets_points_as_numbers_of_their_own(folder: Path) -> None:
    learner(folder / "mei.json", ("q1", 7), hints=1)
    head = ["learner", "q1 score", "q1 of", "q1 attempts", "q1 hints"]
    rest = ["predicted", "settled", "right", "mean confidence", "file"]
    assert cells(scoreboard(folder)) == [head + rest, ["mei", "7", "20", "1", "1", "0", "0", "0", "", "mei.json"]]


def test_who_has_not_begun_has_empty_points_in_the_spreadsheet() -> None:
    board = Board("workshop", (row("ada"), row("mei", q1=Standing(0, 20, 1, 0))), ())
    assert [line[1:5] for line in cells(board)[1:]] == [["", "", "0", "0"], ["0", "20", "1", "0"]]


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t"])
def test_a_name_that_a_spreadsheet_would_run_begins_with_an_apostrophe(start: str) -> None:
    assert cells(Board("workshop", (row(f"{start}HYPERLINK(1)"),), ()))[1][0] == f"'{start}HYPERLINK(1)"


@pytest.mark.parametrize("name", ["-5", "+3.25", "7", "mei", "a=b"])
def test_a_plain_number_or_name_gets_none(name: str) -> None:
    assert cells(Board("workshop", (row(name),), ()))[1][0] == name


def test_a_number_below_zero_stays_a_number() -> None:
    assert cells(Board("workshop", (row("mei", q1=Standing(-1, 20, 1, 0)),), ()))[1][1] == "-1"


def test_a_comma_in_a_name_does_not_shift_the_columns() -> None:
    assert cells(Board("workshop", (row('Mei, "the second"'),), ()))[1][0] == 'Mei, "the second"'


def test_a_spreadsheet_without_learners_has_its_heading() -> None:
    assert len(cells(Board("workshop", (), ()))) == 1


def test_a_program_gets_the_same_as_json(folder: Path) -> None:
    learner(folder / "mei.json", ("q1", 14), hints=1)
    (folder / "broken.json").write_text("[]")
    said: Any = json.loads(json.dumps(scoreboard(folder).as_dict()))
    assert said == {
        "folder": str(folder),
        "questions": ["q1"],
        "learners": [
            {
                "learner": "mei",
                "path": "mei.json",
                "standings": {"q1": {"score": 14, "of": 20, "attempts": 1, "hints": 1}},
                "predicted": 0,
                "settled": 0,
                "right": 0,
                "confidence": None,
            }
        ],
        "skipped": [f"{folder / 'broken.json'} holds JSON, but not an object with names."],
    }


def test_progress_does_not_load_the_board_nor_what_draws_it() -> None:
    heavy = ("rich", "labkit.progress.scoreboard")
    script = f"import sys, labkit.progress; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
