"""tests/wrong_answers/q1/hostile: answers that end, stop, flood or fool what checks them get a verdict all the same.

Each is checked once, as a learner would have it checked; its first line says what it expects. The tests then look at
the report, and at what is left of the check: no process, not a word on stdout, and nothing changed in this process.
"""

import ast
import multiprocessing
import os
import sys
import tempfile
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from labkit.drills import Outcome, Report, check_file, runner
from labkit.drills.show import text

HERE = Path(__file__).parent.parent / "wrong_answers" / "q1" / "hostile"
NAMES = sorted(path.stem for path in HERE.glob("*.py"))
PROC = Path("/proc/self/stat").exists()
REFUSED = {  # files that cannot even be read to their end -> what is said of it
    "asks_at_import": ("EOFError", "line 12", "«NAME = input("),
    "base_exception_at_import": ("ended with Stop", "«raise Stop»"),
    "forges_at_import": ("ended with Forged", "«raise Forged»"),
    "clean_exit_at_import": ("SystemExit", "line 44", "«sys.exit()»"),
    "empty_file": ("None of its functions is there: tolerated_misses, longest_interval, keep_alive.",),
    "exit_at_import": ("SystemExit: these are my answers", "line 44"),
    "patches_the_drills": ("the answer has changed labkit there",),
    "raises_at_import": ("AttributeError: 'function' object has no attribute 'interval'", "line 43"),
    "syntax_error": ("line 42 is no Python: 'return' outside function",),
}
SAID = {  # what the first failure must say; the function is always named
    "asks_the_user": ("EOFError", "asks_the_user.py line 14, in tolerated_misses"),
    "async_functions": ("«async def»",),
    "async_keep_alive": ("keep_alive is «async def»",),
    "counts_the_calls": ("tolerated_misses(3) gave 0",),
    "deep_recursion": ("RecursionError", "deep_recursion.py line 21, in keep_alive"),
    "endless_keep_alive": (
        "blocked real time",
        "endless_keep_alive.py:2",
        " (keep_alive)",
    ),  # a line of the loop, 28 or 29
    "endless_longest_interval": ("longest_interval did not come back within 4 seconds", "check(…, seconds=12)"),
    "endless_tolerated_misses": ("tolerated_misses did not come back within 4 seconds", "--seconds 12"),
    "equal_to_everything": ("tolerated_misses(3) gave", "which is no number"),
    "forges_the_verdict": ("tolerated_misses(3) raised Forged",),
    "generator": ("keep_alive contains «yield»",),
    "leaves_the_process": ("keep_alive ended the whole Python process (by os._exit)",),
    "memory_bomb": ("more than 512 MB", "memory_bomb.py line 23, in keep_alive"),
    "memory_bomb_by_trifles": ("512 MB", "memory_bomb_by_trifles.py"),
    "missing_function": ("There is no function keep_alive",),
    "never_comes_back": ("though the interval is",),
    "patches_the_clock": ("the newest lease had ended",),
    "patches_the_judges": ("tolerated_misses(3) gave 3",),
    "prints_a_verdict": ("tolerated_misses(3) gave 3",),
    "steals_the_lock": ("keep_alive made no attempt",),
    "swallows_everything": ("blocked real time", "swallows_everything.py:"),
    "system_exit_in_longest_interval": ("longest_interval(30, 1, 2, 4) raised SystemExit", "line 20"),
    "too_few_parameters": ("keep_alive(lock, lease, stop, on_lost) cannot be called with 5",),
    "too_many_parameters": ("longest_interval(ttl, misses, attempt, margin, drift) cannot be called with 4",),
}
UNHARMED = {  # how many points the functions that are right get beside one that is not
    "asks_the_user": 18,
    "async_keep_alive": 5,
    "deep_recursion": 5,
    "endless_keep_alive": 5,
    "endless_longest_interval": 17,
    "endless_tolerated_misses": 18,
    "generator": 5,
    "memory_bomb": 5,
    "memory_bomb_by_trifles": 5,
    "missing_function": 5,
    "swallows_everything": 5,
    "system_exit_in_longest_interval": 17,
    "too_few_parameters": 5,
    "too_many_parameters": 17,
}
WORTH_NOTHING = {  # they get these points for what they do right, and not one for what they do to the check
    "patches_the_drills": 0,
    "patches_the_judges": 0,
    "prints_a_verdict": 0,
    "steals_the_lock": 5,
}


class Checked(NamedTuple):
    """A report, and what was left of the check: text on this process's stdout and stderr, processes still there."""

    report: Report
    printed: str
    processes: tuple[str, ...]


@cache
def checked(name: str) -> Checked:
    seconds = 60 if name.startswith("memory") else 4  # a busy machine has to have the time to fill the memory
    with tempfile.TemporaryFile() as file:
        with output_into(file):
            report = check_file("q1", HERE / f"{name}.py", seconds=seconds, record=False)
        file.seek(0)
        return Checked(report, file.read().decode(), left())


@contextmanager
def output_into(file):
    """The file in place of file descriptors 1 and 2, so that also what bypasses sys.stdout is seen."""
    sys.stdout.flush()
    sys.stderr.flush()
    saved = [os.dup(number) for number in (1, 2)]
    for number in (1, 2):
        os.dup2(file.fileno(), number)
    try:
        yield
    finally:
        for number, old in zip((1, 2), saved, strict=True):
            os.dup2(old, number)
            os.close(old)


def left() -> tuple[str, ...]:
    """The processes that a check has left behind: children of ours, and of the server from which they are forked."""
    known = ("resource_tracker", "forkserver", "_guard.py", "redis-server")  # the last two are other tests'
    there = [str(child) for child in multiprocessing.active_children()]
    rows = [row for row in processes() if row.parent == os.getpid()] if PROC else []
    servers = [row.pid for row in rows if "forkserver" in row.command]
    there += [row.command for row in rows if not any(name in row.command for name in known)]
    return (*there, *(row.command for row in processes() if row.parent in servers))


class Row(NamedTuple):
    pid: int
    parent: int
    command: str


def processes() -> list[Row]:
    rows = []
    for place in Path("/proc").glob("[0-9]*") if PROC else ():
        try:
            stat, command = (place / "stat").read_text(), (place / "cmdline").read_bytes()
        except OSError:  # it has just ended
            continue
        state, parent = stat.rpartition(")")[2].split()[:2]
        if state != "Z":
            rows.append(Row(int(place.name), int(parent), command.replace(b"\0", b" ").decode(errors="replace")))
    return rows


def expected(name: str) -> str:
    words = ast.get_docstring(ast.parse((HERE / f"{name}.py").read_text(encoding="utf-8"))) or ""
    return words.partition("\n")[0].removeprefix("expect: ")


def those(*kinds: str) -> list[str]:
    return [name for name in NAMES if expected(name) in kinds]


# --- the verdict


def test_every_file_says_what_it_expects():
    assert {expected(name) for name in NAMES} == {"full", "fail", "error", "time-out", "memory", "not attempted"}


@pytest.mark.parametrize("name", those("full"))
def test_an_unusual_answer_that_is_right_gets_full_points(name):
    report = checked(name).report
    assert (report.status, report.score, text(report).count("✗")) == (0, 20, 0)


@pytest.mark.parametrize("name", [n for n in those("fail", "error", "time-out", "memory") if n not in REFUSED])
def test_the_first_failure_is_of_the_expected_kind(name):
    report = checked(name).report
    assert (report.first.outcome, report.status) == (Outcome(expected(name)), 1)


@pytest.mark.parametrize("name", [n for n in those("not attempted") if n not in REFUSED])
def test_an_empty_answer_is_not_attempted_and_no_failure(name):
    report = checked(name).report
    assert {each.outcome for each in report.findings} == {Outcome.NOT_ATTEMPTED}
    assert (report.score, report.first) == (0, None)
    assert "not attempted yet, this is your task" in text(report)


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_a_file_that_cannot_be_run_is_refused_in_words(name):
    report = checked(name).report
    assert (report.status, report.score, report.findings) == (2, 0, ())
    assert [words for words in REFUSED[name] if words not in report.refused] == []


@pytest.mark.parametrize("name", sorted(SAID))
def test_the_message_says_what_happened_and_where(name):
    report = checked(name).report
    assert [words for words in SAID[name] if words not in report.first.message] == []
    assert report.first.of in text(report)


@pytest.mark.parametrize("name", those("fail", "error", "time-out", "memory"))
def test_a_message_is_no_traceback(name):
    report = checked(name).report
    longest = max(len(line) for line in text(report).splitlines())
    assert "Traceback" not in text(report)
    assert longest < 600


def test_every_failing_file_has_its_words():
    assert {*SAID, *REFUSED} >= set(those("fail", "error", "time-out", "memory"))


@pytest.mark.parametrize("name", sorted(UNHARMED))
def test_the_other_functions_keep_their_points(name):
    assert checked(name).report.score == UNHARMED[name]


@pytest.mark.parametrize("name", sorted(WORTH_NOTHING))
def test_to_fool_the_check_earns_nothing(name):
    assert checked(name).report.score == WORTH_NOTHING[name]


@pytest.mark.parametrize("name", ["endless_keep_alive", "memory_bomb"])
def test_what_never_ends_is_waited_for_once(name):
    outcome = Outcome(expected(name))
    rest = [each for each in checked(name).report.findings if each.of == "keep_alive"][1:]
    assert {each.outcome for each in rest} == {outcome}
    assert any(each.message.startswith("Not played: keep_alive ") for each in rest)


# --- what is left of the check


@pytest.mark.parametrize("name", NAMES)
def test_no_process_is_left(name):
    assert checked(name).processes == ()


@pytest.mark.parametrize("name", NAMES)
def test_not_a_word_gets_out(name):
    assert checked(name).printed == ""


def test_nothing_is_changed_in_this_process():
    before = (sys.stdout, sys.stderr, os._exit, runner.leave, len(sys.modules["labkit.drills"].__dict__))
    for name in ("patches_the_drills", "patches_stdout", "closes_stdout"):
        checked.__wrapped__(name)
    assert (sys.stdout, sys.stderr, os._exit, runner.leave, len(sys.modules["labkit.drills"].__dict__)) == before
    assert not sys.stdout.closed
