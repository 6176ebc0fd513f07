"""check("q1", …) in a notebook: which functions it takes, what it refuses, how points, seeds and attempts are kept."""

import re

import pytest

from labkit import progress
from labkit.drills import Outcome, child, runner
from labkit.drills.stub import is_stub
from tests.drills.notebook import SUMS, Notebook


@pytest.fixture
def nothing_runs(monkeypatch):
    """Whoever starts a process fails."""
    monkeypatch.setattr(runner, "_pool", lambda *_: pytest.fail("a process was started"))


# --- whose function is whose


def test_the_functions_may_be_given_in_any_order(right):
    assert Notebook(right).check('"q1", keep_alive, tolerated_misses, longest_interval').score == 20


def test_without_arguments_those_of_the_notebook_are_taken(right):
    assert Notebook(right).check().score == 20


def test_functions_may_be_given_by_their_contract_name(right):
    renamed = re.sub("def (keep_alive|longest_interval|tolerated_misses)", r"def f_\1", right)
    names = "tolerated_misses=f_tolerated_misses, longest_interval=f_longest_interval, keep_alive=f_keep_alive"
    assert Notebook(renamed).check(f'"q1", {names}').score == 20


def test_a_function_under_a_like_name_is_found_and_named():
    report = Notebook(SUMS.replace("tolerated_misses", "my_tolerated_misses")).check()
    assert report.score == 2
    assert report.notes == ("I take your my_tolerated_misses for tolerated_misses.",)


def test_a_function_under_another_name_is_found_by_its_number_of_arguments():
    report = Notebook(SUMS.replace("tolerated_misses", "answer_a")).check()
    assert report.notes == ("I take your answer_a for tolerated_misses.",)


def test_two_that_could_be_meant_are_not_guessed_between():
    report = Notebook(SUMS.replace("tolerated_misses", "answer_a"), "def answer_b(n):\n    return 1").check()
    assert report.refused.startswith("None of its functions is there: tolerated_misses")


def test_the_last_definition_of_a_name_counts():
    assert Notebook("def tolerated_misses(n):\n    return 99", SUMS).check().score == 2


@pytest.mark.parametrize(
    "cell",
    [
        "tolerated_misses = lambda n: base(n)",
        "from functools import partial\ntolerated_misses = partial(lambda by, n: base(n), 2)",
        "class Misses:\n    def __call__(self, n):\n        return base(n)\ntolerated_misses = Misses()",
        "class Misses:\n    def of(self, n):\n        return base(n)\ntolerated_misses = Misses().of",
        "from functools import cache\ntolerated_misses = cache(base)",
        "def make():\n    def inner(n):\n        return base(n)\n    return inner\ntolerated_misses = make()",
    ],
    ids=["lambda", "partial", "object", "method", "decorated", "closure"],
)
@pytest.mark.parametrize("call", ['"q1"', '"q1", tolerated_misses', '"q1", tolerated_misses=tolerated_misses'])
def test_whatever_can_be_called_is_a_function(cell, call):
    assert Notebook(SUMS.replace("tolerated_misses", "base"), cell).check(call).score == 2


def test_a_function_of_a_module_of_ones_own_is_read_anew(tmp_path, monkeypatch):
    (tmp_path / "my_own_answer.py").write_text(SUMS)
    monkeypatch.syspath_prepend(tmp_path)
    notebook = Notebook("import my_own_answer")
    assert notebook.check('"q1", my_own_answer.tolerated_misses').score == 2


def test_helpers_constants_and_imports_of_the_notebook_go_along():
    cells = ("import math\nTWO = 2\ndef less(n):\n    return math.floor(n - TWO)", SUMS.replace("n - 2", "less(n)"))
    assert Notebook(*cells).check().score == 2


def test_what_cannot_leave_the_notebook_is_refused_with_the_name_of_the_function(nothing_runs):
    cells = ("import threading\nguard = threading.Lock()", SUMS.replace("return n - 2", "with guard: return n - 2"))
    report = Notebook(*cells).check()
    assert report.status == 2
    assert report.refused.startswith("tolerated_misses cannot be sent to the process in which it is tested: TypeError")
    assert report.refused.endswith("make that inside the function.")
    assert progress.attempts("q1") == ()


# --- what is refused before anything runs


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        ('"q99"', ValueError, "No question is called 'q99'; there are q1"),
        ("1", ValueError, "No question is called 1; there are q1"),
        ('"q1", seconds=0', ValueError, "seconds=0 is no time for a check: give seconds, from 0.1 to 600"),
        ('"q1", seconds=601', ValueError, "seconds=601 is no time"),
        ('"q1", seconds="4"', ValueError, "seconds='4' is no time"),
        ('"q1", seconds=True', ValueError, "seconds=True is no time"),
        ('"q1", seconds=float("nan")', ValueError, "seconds=nan is no time"),
        ('"q1", seed=0', ValueError, "seed=0 is no seed: give a whole number from 1 on"),
        ('"q1", seed=1.5', ValueError, "seed=1.5 is no seed"),
        ('"q1", again=""', ValueError, "again='' is no play of q1: it reads «q1:check:variant:seed»"),
        ('"q1", again="q1:told-once:gone"', ValueError, "is no play of q1"),
        ('"q1", again="q1:told-twice:gone:7"', ValueError, "is no play of q1"),
        ('"q1", again="q1:told-once:brink:7"', ValueError, "is no play of q1"),
        ('"q1", again="q1:told-once:gone:-7"', ValueError, "is no play of q1"),
        ('"q1", again="q2:told-once:gone:7"', ValueError, "is no play of q1"),
        ('"q1", again=7', ValueError, "again=7 is no play of q1"),
        ('"q1", 7', TypeError, "check wants functions, not 7: tolerated_misses, longest_interval, keep_alive"),
        ('"q1", keep_alive=None', TypeError, "check wants functions, not keep_alive"),
        ('"q1", keep_alife=print', ValueError, "q1 has no function 'keep_alife'; it has tolerated_misses"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_runs(call, error, said, nothing_runs):
    with pytest.raises(error, match=re.escape(said)):
        Notebook(SUMS).check(call)
    assert progress.attempts("q1") == ()


def test_a_notebook_without_any_of_the_functions_is_told_their_names(nothing_runs):
    report = Notebook("answer = 42").check()
    assert (report.status, report.score) == (2, 0)
    assert report.refused == "None of its functions is there: tolerated_misses, longest_interval, keep_alive."


# --- points


STUBS = """
def tolerated_misses(n):
    \"\"\"How many in a row may fail.\"\"\"
    # Your code goes here, in place of the next line.
    not_attempted()

def longest_interval(ttl, misses, attempt, margin):
    not_attempted()

def keep_alive(lock, lease, interval, stop, on_lost):
    not_attempted()
"""


def test_an_untouched_exercise_is_not_attempted_and_starts_no_process(nothing_runs):
    report = Notebook(STUBS).check()
    assert {each.outcome for each in report.findings} == {Outcome.NOT_ATTEMPTED}
    assert repr(report) == (
        "q1, the renewal interval: not attempted yet, this is your task. Write tolerated_misses, longest_interval and "
        "keep_alive, then check again."
    )


@pytest.mark.parametrize(
    "body", ["return n", "return -n", "return [n]", "while True: pass", "return 2", "return n.real"]
)
def test_a_line_of_ones_own_is_an_attempt_however_short(body):
    namespace = {}
    exec(f"def tolerated_misses(n):\n    {body}", namespace)
    assert not is_stub(namespace["tolerated_misses"])


@pytest.mark.parametrize(
    "body",
    ["pass", "...", "return", "return None", "not_attempted()", "return not_attempted()", "raise NotImplementedError"]
    + ["raise NotImplementedError('later')", "return NotImplemented", "'Only a docstring.'"],
)
def test_what_people_put_down_for_now_is_no_attempt(body):
    namespace = {}
    exec(f"def tolerated_misses(n):\n    {body}", namespace)
    assert is_stub(namespace["tolerated_misses"])


def test_one_function_written_gets_its_points_and_the_others_wait():
    report = Notebook(STUBS, SUMS).check()
    assert (report.score, report.of, report.status) == (2, 20, 1)
    outcomes = [each.outcome for each in report.findings]
    assert outcomes == [Outcome.PASS] + [Outcome.NOT_ATTEMPTED] * 12


def test_a_function_that_is_not_there_is_missed_by_name():
    report = Notebook(SUMS).check()
    assert report.first.message == "There is no function longest_interval, nor one that could be meant by it."


def test_zero_points_stay_zero_and_say_so():
    report = Notebook("def tolerated_misses(n):\n    return n").check()
    assert (report.score, report.of, report.full) == (0, 20, False)
    assert "0 of 20 points; a check gives its points whole or not at all." in repr(report)


def test_the_points_of_a_report_add_up(wrong):
    report = Notebook(wrong).check()
    assert report.score == sum(each.points for each in report.findings) == 19
    assert sum(row["of"] for row in report.as_dict()["findings"]) == report.as_dict()["of"] == 20


def test_full_points_say_nothing_of_failures(right):
    said = repr(Notebook(right).check())
    assert said.startswith("q1, the renewal interval: 20 of 20 points.\n")
    assert "ailure" not in said
    assert "✗" not in said


def test_a_failure_gives_the_symptom_the_run_and_the_string_that_has_it_again(wrong):
    report = Notebook(wrong).check()
    said = repr(report)
    assert "First failure: told once, in keep_alive." in said
    assert "on_lost was called 2 times, at" in said
    assert f'The same play again: check("q1", again="{report.first.again}")' in said
    assert report.first.timeline.ops("extend")


def test_a_notebook_shows_a_table_and_the_picture_of_the_failed_run(wrong):
    shown = Notebook(wrong).check()._repr_html_()
    assert "<table>" in shown
    assert "<img" in shown
    assert "alt=" in shown


# --- again, seeds, the record


def test_the_string_of_a_failure_has_the_same_play_again_and_counts_as_no_attempt(wrong):
    notebook = Notebook(wrong)
    first = notebook.check().first
    again = notebook.check(f'"q1", again="{first.again}"')
    assert len(again.findings) == 1
    assert (again.first.message, again.first.again) == (first.message, first.again)
    assert len(progress.attempts("q1")) == 1


def test_another_seed_in_the_string_is_another_play(wrong):
    notebook = Notebook(wrong)
    messages = {notebook.check(f'"q1", again="q1:told-once:gone:{seed}"').first.message for seed in (7, 8)}
    assert len(messages) == 2


def test_an_attempt_is_recorded_with_its_findings(wrong):
    report = Notebook(wrong).check()
    (attempt,) = progress.attempts("q1")
    assert (attempt.score, attempt.of, attempt.own) == (19, 20, True)
    assert attempt.findings == {each.check: str(each.outcome) for each in report.findings}
    assert attempt.lost == ("told once",)


def test_an_attempt_with_zero_points_is_recorded_as_zero():
    Notebook("def tolerated_misses(n):\n    return n").check()
    assert progress.best("q1").points == "0/20"


def test_each_check_has_seeds_of_its_own():
    notebook = Notebook(SUMS)
    for _ in range(2):
        notebook.check()
    first, second = progress.attempts("q1")
    assert first.seed != second.seed


def test_a_seed_has_the_same_plays_again(wrong):
    first, second = (Notebook(wrong).check('"q1", seed=7') for _ in range(2))
    assert first.as_dict() == second.as_dict()
    assert first.first.timeline == second.first.timeline


def test_a_check_within_a_check_does_nothing(monkeypatch):
    monkeypatch.setattr(child, "inside", True)
    assert Notebook(SUMS).check().refused == "A check inside of a check does nothing."
