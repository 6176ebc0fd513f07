"""hint, model_answer, rubric: help comes one rung at a time, and each rung taken is written down."""

import re

import pytest

from labkit import progress
from labkit.drills import check_file, hint, load, model_answer, rubric

HINTS = len(load("q1").hints)
POINTS = len(load("q1").rubric.key_points)


def attempt(score, outcome="fail"):
    progress.note_attempt("q1", score, 20, {"told once": outcome})


# --- hints


def test_hints_come_one_by_one():
    shown = [hint("q1") for _ in range(HINTS)]
    assert [page.partition(".**")[0] for page in shown] == [f"**Hint {n} of {HINTS}" for n in range(1, HINTS + 1)]
    assert len(set(shown)) == HINTS


def test_each_hint_taken_is_recorded():
    taken = []
    for _ in range(HINTS):
        hint("q1")
        taken.append(progress.hints_taken("q1"))
    assert taken == list(range(1, HINTS + 1))


def test_after_the_last_hint_the_way_to_the_model_answer_is_said():
    for _ in range(HINTS):
        hint("q1")
    assert hint("q1") == f'Those were all {HINTS} hints. `model_answer("q1")` shows the model answer.'
    assert progress.hints_taken("q1") == HINTS


def test_a_hint_taken_before_is_shown_again_and_is_no_further_rung():
    first = hint("q1")
    hint("q1")
    assert hint("q1", 1) == first
    assert progress.hints_taken("q1") == 2


def test_no_hint_is_skipped():
    with pytest.raises(ValueError, match="hint 3 of q1 comes after hint 1: hints are taken one by one"):
        hint("q1", 3)
    assert progress.hints_taken("q1") == 0


@pytest.mark.parametrize("number", [0, -1, HINTS + 1, True, "1", 1.0])
def test_a_hint_that_does_not_exist_is_told_with_those_that_do(number):
    for _ in range(HINTS):
        hint("q1")
    with pytest.raises(ValueError, match=re.escape(f"hint {number!r} of q1 does not exist: there are 1 to {HINTS}.")):
        hint("q1", number)


# --- the model answer


def test_the_model_answer_waits_for_an_attempt_of_ones_own():
    page = model_answer("q1")
    assert page.startswith("The model answer to q1 is shown after an attempt of your own")
    assert "def " not in page
    assert progress.hints_taken("q1") == 0


def test_an_untouched_exercise_is_no_attempt(tmp_path):
    stubs = (f"def {name}({', '.join('abcde'[:count])}):\n    pass\n" for name, count in load("q1").functions.items())
    (tmp_path / "q1.py").write_text("\n".join(stubs))
    check_file("q1", tmp_path / "q1.py")
    assert len(progress.attempts("q1")) == 1
    assert "def " not in model_answer("q1")


def test_after_an_attempt_however_wrong_it_is_shown_and_recorded():
    attempt(0)
    page = model_answer("q1")
    for function in load("q1").functions:
        assert f"def {function}(" in page
    assert progress.Progress.open().record().opened == {"q1"}
    assert progress.hints_taken("q1") == 0


def test_an_attempt_at_another_question_does_not_count():
    progress.note_attempt("q2", 3, 20, {"told once": "fail"})
    assert "def " not in model_answer("q1")


def test_whoever_has_seen_the_model_answer_may_still_see_the_last_hint():
    attempt(0)
    model_answer("q1")
    assert hint("q1", HINTS).startswith(f"**Hint {HINTS} of {HINTS}.**")


# --- the rubric


def test_the_rubric_lists_the_points_with_their_numbers():
    page = rubric("q1")
    assert [f"{n}. {text}" in page for n, text in enumerate(load("q1").rubric.key_points, 1)] == [True] * POINTS


def test_a_spoken_answer_is_scored_and_what_it_left_out_is_named():
    page = rubric("q1", [1])
    assert page.startswith(f"**1 of {POINTS} key points.** Left out:")
    assert load("q1").rubric.key_points[0] not in page
    assert f"- {POINTS}: {load('q1').rubric.key_points[-1]}" in page


def test_a_point_said_twice_counts_once():
    assert rubric("q1", [1, 1]) == rubric("q1", [1])


def test_a_whole_answer_leaves_nothing_out():
    assert rubric("q1", range(1, POINTS + 1)) == f"**{POINTS} of {POINTS} key points.** Nothing is left out."


def test_an_answer_without_a_point_gets_none():
    assert rubric("q1", []).startswith(f"**0 of {POINTS} key points.** Left out:")


@pytest.mark.parametrize("number", [0, -1, POINTS + 1, True, "1", 1.0])
def test_a_point_that_does_not_exist_is_told_with_those_that_do(number):
    with pytest.raises(
        ValueError, match=re.escape(f"Key point {number!r} of q1 does not exist: there are 1 to {POINTS}.")
    ):
        rubric("q1", [number])


@pytest.mark.parametrize("of", [hint, model_answer, rubric])
def test_an_unknown_question_is_told_with_those_that_there_are(of):
    with pytest.raises(ValueError, match=r"No question is called 'q99'; there are [nq]1"):
        of("q99")


def test_a_page_shows_itself_in_a_notebook_and_in_a_shell():
    page = rubric("q1")
    assert page._repr_markdown_() == repr(page) == str(page)
