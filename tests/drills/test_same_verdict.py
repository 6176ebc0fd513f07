"""Wherever an answer stands, in a notebook, a file of either kind or a script, the verdict on it is the same.

What the code around it does, prints or ends with costs no points and reaches nobody.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from labkit import progress
from labkit.drills import check_file
from tests.drills.notebook import SUMS, Notebook

ANSWERS = Path(__file__).parent.parent / "right_answers" / "q1"


def book(*cells):
    """The text of a notebook file. A cell that begins with # is Markdown."""
    made = [
        {"cell_type": "markdown", "metadata": {}, "source": cell}
        if cell.startswith("# ")
        else {"cell_type": "code", "metadata": {}, "source": cell, "outputs": [], "execution_count": None}
        for cell in cells
    ]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def pieces(text):
    """An answer cut into its imports and its functions."""
    head, *functions = re.split(r"\n(?=def |class )", text)
    return [head.partition('"""\n')[2].partition('"""\n')[2] or head, *functions]


LAYOUTS = {
    "one cell": lambda parts: ["\n".join(parts)],
    "a cell for each": lambda parts: parts,
    "reordered": lambda parts: [parts[0], *reversed(parts[1:])],
    "copied": lambda parts: [*parts, *parts],
    "an older try above": lambda parts: ["def keep_alive(lock, lease, interval, stop, on_lost):\n    1 / 0", *parts],
    "with magics": lambda parts: ["%matplotlib inline\n!echo hello\n%time 1", *parts, "%%time\nx = 1"],
    "with Markdown": lambda parts: ["# My answer", *parts],
    "a broken cell between": lambda parts: [parts[0], "def oops(:", "undefined_name = nowhere", *parts[1:]],
    "a check in it": lambda parts: [*parts, 'from labkit.drills import check\nreport = check("q1")\ncheck("q1")'],
    "prints and input": lambda parts: [*parts, 'print("hello")\nname = input("Who?")'],
}


@pytest.fixture(scope="session")
def in_the_notebook(wrong):
    """The verdict on the wrong answer, in a notebook."""
    patch = pytest.MonkeyPatch()
    with patch.context() as inside:
        inside.setattr(progress, "note_attempt", lambda *_: None)
        return Notebook(wrong).check('"q1", seed=7')


def told(report):
    return [(each.check, each.outcome, each.points, each.message, each.again) for each in report.findings]


def test_a_file_gets_the_verdict_of_the_notebook(tmp_path, wrong, in_the_notebook):
    (tmp_path / "mine.py").write_text(wrong)
    assert told(check_file("q1", tmp_path / "mine.py", seed=7)) == told(in_the_notebook)


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_a_notebook_file_gets_the_verdict_of_the_notebook(layout, tmp_path, wrong, in_the_notebook):
    (tmp_path / "mine.ipynb").write_text(book(*layout(pieces(wrong))))
    assert told(check_file("q1", tmp_path / "mine.ipynb", seed=7)) == told(in_the_notebook)


def test_what_went_wrong_in_a_notebook_file_is_a_note(tmp_path):
    (tmp_path / "mine.ipynb").write_text(book("def oops(:", "two = nowhere", SUMS.strip().replace("- 2", "- two")))
    report = check_file("q1", tmp_path / "mine.ipynb")
    assert report.notes[0].startswith("cell 1 line 1 is no Python")
    assert report.notes[1].startswith("cell 2 stops with NameError: name 'nowhere' is not defined, at cell 2 line 1")
    assert "NameError: name 'two' is not defined, at cell 3 line 4" in report.first.message


def test_what_a_notebook_does_besides_is_not_done_again(tmp_path):
    besides = "import time\nslow = time.sleep(60)\nfor endless in iter(int, 1):\n    pass"
    (tmp_path / "mine.ipynb").write_text(book(SUMS, besides, "broken = tolerated_misses(0)"))
    report = check_file("q1", tmp_path / "mine.ipynb", seconds=2)
    assert (report.score, report.notes) == (2, ())


def test_an_error_names_the_cell_and_its_line(tmp_path):
    (tmp_path / "mine.ipynb").write_text(book("x = 1", "def tolerated_misses(n):\n    return n - unknown"))
    message = check_file("q1", tmp_path / "mine.ipynb").first.message
    assert "at cell 2 line 2, in tolerated_misses: «return n - unknown»" in message


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("mine.txt", b"", "is neither a Python file (.py) nor a notebook (.ipynb)"),
        ("mine.ipynb", b"{}", "is no notebook: KeyError"),
        ("mine.ipynb", b"no JSON", "is no notebook"),
        ("mine.ipynb", b'{"cells": 7}', "is no notebook"),
        ("mine.py", b"\xff\xfe\x00", "cannot be read"),
        ("mine.py", b"x = 1\n" * 400_000, "an answer has at most 2,000,000"),
        ("mine.py", b"x = (", "mine.py line 1 is no Python"),
        ("mine.py", b"while True: pass", "did not come back within 1 seconds"),
    ],
)
def test_a_file_that_is_no_answer_is_said_in_words(tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    report = check_file("q1", tmp_path / name, seconds=1)
    assert (report.status, report.score) == (2, 0)
    assert said in report.refused
    assert progress.attempts("q1") == ()


def test_a_file_that_is_not_there_is_said_in_words(tmp_path):
    assert check_file("q1", tmp_path / "none.py").refused == f"There is no file {tmp_path / 'none.py'}."


def test_a_file_with_a_byte_order_mark_is_read(tmp_path):
    (tmp_path / "mine.py").write_text(SUMS, encoding="utf-8-sig")
    assert check_file("q1", tmp_path / "mine.py").score == 2


# --- a process of its own


def script(tmp_path, text, *options):
    path = tmp_path / "script.py"
    path.write_text(text, encoding="utf-8")
    done = subprocess.run([sys.executable, *options, str(path)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done


CALL = 'from labkit.drills import check\nreport = check("q1", seed=7)\nprint(report)\n'


def test_a_script_that_checks_at_its_top_level_gets_the_same_verdict(tmp_path, wrong, in_the_notebook):
    said = script(tmp_path, wrong + "\n\n" + CALL).stdout
    assert said.splitlines() == repr(in_the_notebook).splitlines()


def test_the_optimiser_changes_no_verdict(tmp_path, wrong, in_the_notebook):
    said = script(tmp_path, wrong + "\n\n" + CALL, "-O").stdout
    assert said.splitlines() == repr(in_the_notebook).splitlines()


def test_a_reload_of_the_locks_changes_no_verdict(tmp_path, right):
    reload = "import importlib, labkit.locks, labkit.locks.lease\n"
    reload += "importlib.reload(labkit.locks.lease)\nimportlib.reload(labkit.locks)\n"
    assert "20 of 20 points" in script(tmp_path, right + "\n\n" + reload + CALL).stdout


def test_what_an_answer_prints_and_warns_costs_nothing_and_is_not_seen(capfd):
    report = check_file("q1", ANSWERS / "chatty.py")
    assert report.score == 20
    assert capfd.readouterr() == ("", "")


def test_what_a_failing_answer_printed_is_shown_to_whoever_asks(tmp_path):
    text = "def tolerated_misses(n):\n    print('n is', n)\n    return n"
    report = Notebook(text).check()
    assert "Your code printed: n is 3 | n is 2" in repr(report)


def test_a_slow_answer_is_told_the_limit_and_how_to_raise_it(tmp_path):
    text = "def tolerated_misses(n):\n    while True: pass"
    message = Notebook(text).check('"q1", seconds=1').first.message
    assert message.startswith("tolerated_misses did not come back within 1 seconds, so it was stopped.")
    assert message.endswith("give it more: check(…, seconds=3), or --seconds 3.")


def test_more_time_lets_a_slow_answer_pass():
    slow = SUMS.replace("return n - 2", "return n - 2 + 0 * sum(range(3_000_000))")
    assert Notebook(slow).check('"q1", seconds=60').score == 2


@pytest.mark.parametrize("end", ["KeyboardInterrupt", "GeneratorExit", "type('Own', (BaseException,), {})"])
def test_whatever_a_file_ends_with_ends_no_process_of_the_learner(end, tmp_path):
    (tmp_path / "mine.py").write_text(f"{SUMS}\nraise {end}\n")
    report = check_file("q1", tmp_path / "mine.py")
    assert (report.status, report.score) == (2, 0)
    assert "Own" in report.refused or end in report.refused
