"""The `labkit` command: what it prints, where, and the exit status it leaves with; every mistake costs one sentence."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from labkit import progress
from labkit.cli import app

ROOT = Path(__file__).parent.parent
COMMANDS = "answer check doctor errata hint matrix progress reset rubric scoreboard search".split()
ONE = "def tolerated_misses(n):\n    if n < 2:\n        raise ValueError(n)\n    return n - 2\n"
STUBS = (
    "def tolerated_misses(n):\n    pass\n\n"
    "def longest_interval(ttl, misses, attempt, margin):\n    pass\n\n"
    "def keep_alive(lock, lease, interval, stop, on_lost):\n    pass\n"
)


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("LABKIT_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


@pytest.fixture(scope="module")
def answers():
    return {
        "right": ROOT / "tests/right_answers/q1/plain_loop.py",
        "wrong": ROOT / "tests/wrong_answers/q1/told_twice.py",
    }


def labkit(*arguments):
    """Runs the command in this process."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments], prog_name="labkit")


def command(*arguments, **environment):
    """Runs the command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", "from labkit.cli import main; main()", *arguments],
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        check=False,
    )


def refused(result):
    """The sentence of a command that was not understood. Nothing else is printed, and no traceback."""
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Traceback" not in result.stderr
    return result.stderr.strip()


# --- check


def test_full_points_end_with_0(answers):
    result = labkit("check", "q1", answers["right"])
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("q1, the renewal interval: 20 of 20 points.\n")


def test_fewer_points_end_with_1_and_the_first_failure(answers):
    result = labkit("check", "q1", answers["wrong"])
    assert result.exit_code == 1
    assert "19 of 20 points" in result.stdout
    assert "First failure: told once, in keep_alive." in result.stdout
    assert "The same play again: labkit check q1 " in result.stdout


def test_an_untouched_exercise_ends_with_1_and_no_failure(tmp_path):
    (tmp_path / "q1.py").write_text(STUBS)
    result = labkit("check", "q1", "q1.py")
    assert result.exit_code == 1
    assert "not attempted yet, this is your task" in result.stdout
    assert "ailure" not in result.stdout


def test_a_file_that_does_not_run_ends_with_2_and_the_reason(tmp_path):
    (tmp_path / "q1.py").write_text("def oops(:")
    result = labkit("check", "q1", "q1.py")
    assert result.exit_code == 2
    assert "q1.py line 1 is no Python" in result.stdout


def test_the_command_that_a_failure_prints_has_the_same_play_again(answers, tmp_path):
    shutil.copy(answers["wrong"], tmp_path / "my answer.py")
    first = labkit("check", "q1", "my answer.py").stdout
    line = next(line for line in first.splitlines() if "The same play again: " in line)
    words = shlex.split(line.partition("again: ")[2])
    again = labkit(*words[1:])
    message = first.partition("First failure: ")[2].splitlines()[1]
    assert message in again.stdout
    assert len(progress.attempts("q1")) == 1


def test_a_check_is_recorded(tmp_path):
    (tmp_path / "q1.py").write_text(ONE)
    labkit("check", "q1", "q1.py")
    assert progress.best("q1").points == "2/20"


def test_json_is_alone_on_stdout(answers):
    result = labkit("check", "q1", answers["wrong"], "--json")
    assert (result.exit_code, result.stderr) == (1, "")
    told = json.loads(result.stdout)
    assert (told["question"], told["score"], told["of"], told["refused"]) == ("q1", 19, 20, "")
    lost = [row for row in told["findings"] if row["outcome"] != "pass"]
    assert [(row["check"], row["points"], row["of"]) for row in lost] == [("told once", 0, 1)]
    assert lost[0]["again"].startswith("q1:told-once:")


def test_json_of_a_notebook_that_prints_is_alone_on_stdout(tmp_path):
    cells = [{"cell_type": "code", "source": source, "metadata": {}} for source in ("print('hello')", "!echo hi", ONE)]
    (tmp_path / "q1.ipynb").write_text(json.dumps({"cells": cells}))
    done = command("check", "q1", "q1.ipynb", "--json")
    assert (done.returncode, done.stderr) == (1, "")
    assert json.loads(done.stdout)["score"] == 2


def test_json_of_what_could_not_be_run_is_json_too(tmp_path):
    result = labkit("check", "q1", tmp_path / "none.py", "--json")
    assert result.exit_code == 2
    assert json.loads(result.stdout)["refused"].startswith("There is no file")


@pytest.mark.parametrize("kind", ["svg", "png", "html"])
def test_the_first_failure_is_drawn_into_a_file(kind, answers, tmp_path):
    result = labkit("check", "q1", answers["wrong"], "--picture", f"failure.{kind}")
    assert result.exit_code == 1
    assert (tmp_path / f"failure.{kind}").stat().st_size > 2000


def test_without_a_failure_there_is_no_picture_and_that_is_said(answers, tmp_path):
    result = labkit("check", "q1", answers["right"], "--picture", "failure.svg")
    assert result.exit_code == 0
    assert result.stderr.strip() == "There is no failed run to draw into failure.svg."
    assert not (tmp_path / "failure.svg").exists()


def test_a_picture_of_no_known_kind_is_refused(answers):
    result = labkit("check", "q1", answers["wrong"], "--picture", "failure.doc")
    assert result.exit_code == 2
    assert "failure.doc" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "Name a question and a file, as in `labkit check q1 exercises/q1.ipynb`, or a folder with --all."),
        (("q1",), "Name a question and a file"),
        (("q99", "q1.py"), "No question is called 'q99'; there are q1"),
        (("q1", "q1.py", "--seconds", "0"), "seconds=0.0 is no time for a check: give seconds, from 0.1 to 600."),
        (("q1", "q1.py", "--again", "nonsense"), "again='nonsense' is no play of q1"),
        (("--all", "nowhere"), "nowhere is no folder."),
        (("--all", "."), ". holds no answer: a file called after its question"),
    ],
)
def test_what_check_does_not_understand_costs_one_sentence(arguments, said):
    assert refused(labkit("check", *arguments)).startswith(said)
    assert progress.attempts() == ()


@pytest.mark.parametrize("page", ["cp1252", "cp936", "ascii"])
def test_a_code_page_without_our_signs_costs_a_sign_and_no_traceback(page, tmp_path):
    (tmp_path / "q1.py").write_text(ONE)
    done = command("check", "q1", "q1.py", PYTHONIOENCODING=page)
    assert (done.returncode, done.stderr) == (1, "")
    assert "2 of 20 points" in done.stdout


# --- check --all


@pytest.fixture
def folder(tmp_path):
    """Three answers: two points, not attempted, and one that does not run."""
    (tmp_path / "all").mkdir()
    for name, text in (("anna-q1.py", ONE), ("bert-q1.py", STUBS), ("cleo-q1.py", "def oops(:")):
        (tmp_path / "all" / name).write_text(text)
    return tmp_path / "all"


def test_a_folder_gets_a_line_for_each_answer(folder):
    result = labkit("check", "--all", folder)
    lines = result.stdout.splitlines()
    assert lines[0] == "anna-q1.py: 2 of 20 points; first failure: longest interval"
    assert lines[1] == "bert-q1.py: not attempted yet"
    assert lines[2].startswith("cleo-q1.py: could not be checked. cleo-q1.py line 1 is no Python")
    assert result.exit_code == 2


def test_a_folder_as_json_is_one_list(folder):
    told = json.loads(labkit("check", "--all", folder, "--json").stdout)
    assert [(row["file"], row["score"]) for row in told] == [("anna-q1.py", 2), ("bert-q1.py", 0), ("cleo-q1.py", 0)]


def test_a_folder_of_full_answers_ends_with_0(answers, tmp_path):
    (tmp_path / "all").mkdir()
    shutil.copy(answers["right"], tmp_path / "all" / "q1.py")
    assert labkit("check", "--all", "all").exit_code == 0


# --- hint, progress, reset, scoreboard


def test_hint_gives_one_after_the_other_and_progress_shows_it():
    first, second = labkit("hint", "q1"), labkit("hint", "q1")
    assert (first.exit_code, second.exit_code) == (0, 0)
    assert first.stdout.startswith("**Hint 1 of 3.**")
    assert second.stdout.startswith("**Hint 2 of 3.**")
    assert "| q1 | 0 | not attempted | 2 |" in labkit("progress").stdout


def test_progress_of_who_has_done_nothing_says_so():
    result = labkit("progress")
    assert result.exit_code == 0
    assert "no predictions yet" in result.stdout
    assert "no attempts yet" in result.stdout


def test_progress_shows_zero_points_as_zero():
    progress.note_attempt("q1", 0, 20, {"told once": "fail"})
    assert "| q1 | 1 | 0/20 | 0 | told once |" in labkit("progress").stdout


def test_reset_gives_the_exercise_back_keeps_the_answer_and_the_progress(tmp_path):
    (tmp_path / "exercises").mkdir()
    (tmp_path / "exercises" / "q1.ipynb").write_text('{"cells": ["an hour of work"]}')
    progress.note_attempt("q1", 7, 20, {"told once": "fail"})
    result = labkit("reset", "q1")
    assert result.exit_code == 0
    assert "Your notebook is kept as q1.backup-1.ipynb" in result.stdout
    assert "an hour of work" in (tmp_path / "exercises" / "q1.backup-1.ipynb").read_text()
    pristine = ROOT / "labkit" / "drills" / "q1" / "exercise.ipynb"
    assert (tmp_path / "exercises" / "q1.ipynb").read_bytes() == pristine.read_bytes()
    assert progress.best("q1").points == "7/20"


def test_the_exercise_that_reset_gives_back_is_not_attempted():
    result = labkit("check", "q1", ROOT / "labkit" / "drills" / "q1" / "exercise.ipynb")
    assert "not attempted yet, this is your task" in result.stdout


@pytest.fixture
def board(tmp_path):
    """A folder with the progress of two learners, and a file that is none."""
    for name, score in (("anna", 20), ("bert", 0)):
        learner = progress.Progress(tmp_path / "workshop" / name / "progress.json")
        learner.note_attempt("q1", score, 20, {"told once": "pass" if score else "fail"})
    (tmp_path / "workshop" / "notes.json").write_text('["not progress"]')
    return tmp_path / "workshop"


def test_a_scoreboard_has_a_row_for_each_learner_and_a_sentence_for_what_is_none(board):
    result = labkit("scoreboard", board)
    assert result.exit_code == 0
    assert "anna" in result.stdout
    assert "20/20" in result.stdout
    assert "0/20" in result.stdout
    assert "notes.json" in result.stderr


def test_a_scoreboard_goes_into_a_file_for_a_spreadsheet(board, tmp_path):
    result = labkit("scoreboard", board, "--csv", "board.csv")
    assert result.exit_code == 0
    assert "Written to board.csv." in result.stdout
    rows = (tmp_path / "board.csv").read_text(encoding="utf-8-sig").splitlines()
    assert [row.split(",")[0] for row in rows[1:3]] == ["anna", "bert"]


def test_a_scoreboard_as_json_is_alone_on_stdout(board):
    assert json.loads(labkit("scoreboard", board, "--json").stdout)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("hint", "q99"), "No question is called 'q99'; there are q1"),
        (("reset", "q99"), "There is no exercise 'q99'; it must be one of: q1"),
        (("reset", "q1"), "There is no folder 'exercises'; name the one in which q1.ipynb is or shall be."),
        (("scoreboard", "nowhere"), ""),
        (("scoreboard", ".", "--csv", "no/such/folder.csv"), ""),
    ],
)
def test_what_a_command_does_not_understand_costs_one_sentence(arguments, said):
    sentence = refused(labkit(*arguments))
    assert sentence.startswith(said)
    assert len(sentence.splitlines()) == 1


# --- help


def test_help_leads_to_every_command():
    listed = labkit("--help").stdout
    assert [name for name in COMMANDS if name not in listed] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command):
    result = labkit(command, "--help")
    assert result.exit_code == 0
    assert f"Usage: labkit {command}" in result.stdout


@pytest.mark.parametrize("arguments", [("chek",), ("check", "q1", "a.py", "b.py"), ("check", "--secs", "1"), ("hint",)])
def test_a_mistyped_command_ends_with_2_and_no_traceback(arguments):
    result = labkit(*arguments)
    assert result.exit_code == 2
    assert "Traceback" not in result.output


def test_help_is_quick_for_it_loads_none_of_the_world():
    heavy = ("fakeredis", "matplotlib", "IPython", "pebble")
    code = f"import sys, labkit.cli; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == "[]"


# --- the search and the matrix


def test_a_break_that_was_found_ends_with_1_and_its_string():
    result = labkit("search", "increment", "no_lost_update", "--set", "row=R3", "--faults", "pause")
    assert result.exit_code == 1
    assert "labkit.replay('increment #0 pause.A.2=1')" in result.stdout


def test_bounds_that_were_exhausted_end_with_0():
    result = labkit("search", "increment", "no_lost_update", "--set", "row=R3", "--faults", "crash")
    assert result.exit_code == 0
    assert result.stdout.startswith("not broken: no_lost_update held in all ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("no-such-story", "no_lost_update"), "no-such-story"),
        (("increment", "no_such_check"), "no_such_check"),
        (("increment", "no_lost_update", "--set", "row"), "write name=value"),
        (("increment", "no_lost_update", "--set", "row=R99"), "R99"),
        (("increment", "no_lost_update", "--faults", "earthquake"), "earthquake"),
    ],
)
def test_a_search_that_cannot_be_is_refused(words, said):
    assert said in refused(labkit("search", *words))


def test_a_part_of_the_matrix_as_json():
    result = labkit("matrix", "--rows", "R1, R2", "--columns", "F1", "--json")
    assert result.exit_code == 0
    assert [(c["row"], c["column"], c["verdict"]) for c in json.loads(result.stdout)] == [
        ("R1", "F1", "U"),
        ("R2", "F1", "S"),
    ]


def test_a_row_that_does_not_exist_is_refused():
    assert "R99" in refused(labkit("matrix", "--rows", "R99"))


def test_the_rubric_and_the_way_to_the_model_answer():
    assert "1. " in labkit("rubric", "q1").stdout
    assert "after an attempt of your own" in labkit("answer", "q1").stdout
