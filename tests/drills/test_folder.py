"""labkit check --all: every answer of a folder, whatever else lies there, and nobody's progress is touched."""

from pathlib import Path

import pytest

from labkit import progress
from labkit.drills.folder import answers, check_all

ONE = "def tolerated_misses(n):\n    if n < 2:\n        raise ValueError(n)\n    return n - 2\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "answers").mkdir()
    return tmp_path / "answers"


def put(folder: Path, *names: str, text: str = ONE) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def places(folder):
    return [(path.relative_to(folder).as_posix(), question) for path, question in answers(folder)]


@pytest.mark.parametrize(
    "name",
    ["q1.py", "q1.ipynb", "Q1.py", "q1-anna.py", "anna_q1.ipynb", "anna q1.py", "my.q1.py", "sub/q1.py", "q1 (2).py"],
)
def test_a_file_named_after_its_question_is_an_answer(name, folder):
    put(folder, name)
    assert places(folder) == [(name, "q1")]


@pytest.mark.parametrize(
    "name",
    [
        "notes.py",
        "q1.txt",
        "q1",
        "q10.py",
        "q99.py",
        "aq1.py",
        "q1a.py",
        "q0.py",
        ".q1.py",
        ".ipynb_checkpoints/q1.ipynb",
    ]
    + ["q1.backup-1.ipynb", "q1.backup-12.ipynb", "sub/.hidden/q1.py", "q1.py.bak", "faq.py"],
)
def test_anything_else_is_none(name, folder):
    put(folder, name)
    assert places(folder) == []


def test_a_folder_that_is_named_like_an_answer_is_walked_through(folder):
    put(folder, "q1.py/inner-q1.py")
    assert places(folder) == [("q1.py/inner-q1.py", "q1")]


def test_a_hidden_folder_above_the_one_that_was_asked_for_hides_nothing(tmp_path):
    put(tmp_path / ".course", "q1.py")
    assert places(tmp_path / ".course") == [("q1.py", "q1")]


def test_what_is_no_folder_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"nowhere is no folder\."):
        answers(tmp_path / "nowhere")


def test_every_answer_gets_its_verdict_whatever_the_one_before_it_was(folder):
    put(folder, "anna-q1.py")
    put(folder, "bert-q1.py", text="def oops(:")
    put(folder, "cleo-q1.ipynb", text="{}")
    put(folder, "dora-q1.py", text="def tolerated_misses(n):\n    pass\n")
    put(folder, "emil-q1.py", text="while True: pass")
    put(folder, "fred-q1.py", text="x = 1")
    put(folder, "notes.py", text="1 / 0")
    (folder / "gone-q1.py").symlink_to(folder / "nowhere")
    reports = dict(check_all(folder, seconds=1))
    told = {place.partition("-")[0]: (report.status, report.score) for place, report in reports.items()}
    assert told == {"anna": (1, 2), "bert": (2, 0), "cleo": (2, 0), "dora": (1, 0), "emil": (2, 0), "fred": (2, 0)}


def test_a_check_of_a_folder_is_nobodys_attempt(folder, home):
    put(folder, "q1.py")
    assert [report.score for _, report in check_all(folder)] == [2]
    assert progress.attempts("q1") == ()
    assert not home.exists()


def test_no_file_of_the_folder_is_changed(folder):
    put(folder, "q1.py", "q1.ipynb")
    list(check_all(folder))
    assert sorted(path.name for path in folder.iterdir()) == ["q1.ipynb", "q1.py"]
    assert (folder / "q1.py").read_text() == ONE
