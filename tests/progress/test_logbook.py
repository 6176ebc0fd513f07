"""The progress file keeps what was said before the run, whatever happens to the run, the process or the folder."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from labkit.progress import Prediction, Progress, attempts, note_attempt, note_hint, overview, tries
from tests.progress.page import FOUND, document, write

# --- where it lies


def test_the_folder_is_that_of_labkit_home_else_the_users_own(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Progress.open().path == home / "progress.json"
    monkeypatch.delenv("LABKIT_HOME")
    monkeypatch.setattr("platformdirs.user_data_path", lambda name, appauthor: Path("/data") / name)
    assert Progress.open().path == Path("/data/redis-lock-lab/progress.json")


def test_a_folder_can_be_named(tmp_path: Path) -> None:
    Progress.open(tmp_path / "other").predict("02.crash", "never")
    assert len(document(tmp_path / "other")["predictions"]) == 1


# --- restarts, and places where nothing can be kept


def test_answers_are_still_there_after_a_restart() -> None:
    script = (
        "from labkit.progress import *; predict('02.crash', 'never', confidence=80); settle('02.crash', 'never');"
        "note_attempt('q1', 14, 20, {'told once': 'fail'}, 7); note_hint('q1', 2)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
    said = subprocess.run(
        [sys.executable, "-c", "from labkit.progress import overview; print(ascii(overview()))"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "| 02.crash | never | 80 % |" in said
    assert "| q1 | 1 | 14/20 | 2 | told once |" in said


def test_an_answer_survives_where_nothing_can_be_written(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home.write_text("in the way")
    note_attempt("q1", 14, 20, FOUND)
    note_hint("q1", 1)
    assert "| q1 | 1 | 14/20 | 1 | prompt stop, told once |" in overview()
    assert capsys.readouterr().err.count("\n") == 1


def test_an_answer_to_a_corrupted_file_begins_a_new_one(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(home, "{ruined")
    note_attempt("q1", 14, 20, FOUND)
    assert (home / "progress.json.corrupt-1").read_text() == "{ruined"
    assert "kept as progress.json.corrupt-1" in capsys.readouterr().err
    assert tries("q1") == 1


# --- two processes


def test_no_prediction_is_lost_when_several_processes_write_at_once(home: Path) -> None:
    script = "import sys; from labkit.progress import predict\nfor n in range(20): predict(f'02.q{n}', sys.argv[1])"
    writers = [subprocess.Popen([sys.executable, "-c", script, str(number)]) for number in range(3)]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    stored = Progress.open().predictions()
    assert len(stored) == 60
    for number in range(3):
        assert [one.question for one in stored if one.answer == str(number)] == [f"02.q{n}" for n in range(20)]


def test_no_attempt_is_lost_when_two_processes_write_at_once() -> None:
    script = (
        "import sys; from labkit.progress import note_attempt\n"
        "for n in range(20): note_attempt('q1', n, 20, {'told once': 'fail'}, int(sys.argv[1]))"
    )
    writers = [subprocess.Popen([sys.executable, "-c", script, str(number)]) for number in range(2)]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    for number in range(2):
        assert [attempt.score for attempt in attempts() if attempt.seed == number] == list(range(20))


def test_a_prediction_survives_a_process_that_is_killed_right_after(home: Path) -> None:
    script = "import os; from labkit.progress import predict; predict('02.crash', 'never'); os._exit(9)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 9
    assert [type(stored) for stored in Progress.open().predictions()] == [Prediction]


# --- what it brings along


def test_importing_it_imports_nothing_else_of_labkit() -> None:
    script = "import sys, labkit; before = set(sys.modules); import labkit.progress; print(set(sys.modules) - before)"
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert sorted(re.findall(r"'(labkit[^']*)'", out)) == [
        "labkit.progress",
        "labkit.progress.entries",
        "labkit.progress.interviews",
        "labkit.progress.jsonfile",
        "labkit.progress.logbook",
        "labkit.progress.record",
        "labkit.progress.words",
    ]
