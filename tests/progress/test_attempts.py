"""Answers to exercises, hints and resets: what is noted is what is read again, and what cannot be read is kept."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from labkit.progress import (
    FINDINGS,
    Attempt,
    attempts,
    best,
    hints_taken,
    note_attempt,
    note_hint,
    note_model_answer,
    note_reset,
    overview,
    tries,
)
from tests.progress.page import FOUND, UNTOUCHED, UTC, document, write

# --- what is noted


def test_an_attempt_is_in_the_file_when_it_is_noted(home: Path) -> None:
    note_attempt("q1", 14, 20, FOUND, 7)
    (entry,) = document(home)["attempts"]
    assert UTC.fullmatch(entry.pop("at"))
    assert entry == {"question": "q1", "score": 14, "of": 20, "findings": FOUND, "seed": 7}


def test_what_is_noted_is_what_is_read_again() -> None:
    noted = note_attempt("q1", 14, 20, FOUND, 7)
    assert attempts() == (noted,)
    assert noted == Attempt("q1", 14, 20, FOUND, 7, noted.at)


def test_the_first_attempt_leaves_the_format_as_it_is(home: Path) -> None:
    note_attempt("q1", 14, 20, FOUND)
    assert (document(home)["format"], document(home)["predictions"]) == (1, [])


def test_a_list_is_begun_with_its_first_entry_only(home: Path) -> None:
    note_hint("q1", 1)
    assert list(document(home)) == ["format", "predictions", "hints"]


def test_an_attempt_shows_itself_without_a_date() -> None:
    assert repr(note_attempt("q1", 14, 20, FOUND)) == "14/20 points for q1."


def test_attempts_can_be_asked_for_one_question() -> None:
    note_attempt("q1", 1, 20, FOUND)
    note_attempt("q2", 2, 20, FOUND)
    assert [attempt.score for attempt in attempts("q2")] == [2]


def test_the_checks_that_were_not_passed_are_lost() -> None:
    assert note_attempt("q1", 14, 20, FOUND).lost == ("prompt stop", "told once")


def test_an_untouched_exercise_is_not_ones_own_attempt() -> None:
    assert note_attempt("q1", 0, 20, UNTOUCHED).own is False


def test_one_thing_attempted_makes_it_ones_own() -> None:
    assert note_attempt("q1", 0, 20, UNTOUCHED | {"told once": "error"}).own is True


def test_an_untouched_exercise_is_stored_and_counts_nowhere() -> None:
    note_attempt("q1", 0, 20, UNTOUCHED)
    assert (len(attempts("q1")), tries("q1"), best("q1")) == (1, 0, None)
    assert overview().endswith("Your answers: no attempts yet.")


def test_the_best_attempt_is_the_one_with_the_largest_share() -> None:
    for score, of in [(14, 20), (15, 30), (10, 20)]:
        note_attempt("q1", score, of, FOUND)
    found = best("q1")
    assert found and found.points == "14/20"


def test_of_two_equally_good_attempts_the_later_is_the_best() -> None:
    for seed in (1, 2):
        note_attempt("q1", 20, 20, {"told once": "pass"}, seed)
    found = best("q1")
    assert found and found.seed == 2


def test_a_score_of_zero_stays_zero(home: Path) -> None:
    note_attempt("q1", 0, 20, {"told once": "fail"})
    found = best("q1")
    assert found and found.points == "0/20"
    assert document(home)["attempts"][0]["score"] == 0
    assert "| q1 | 1 | 0/20 | 0 | told once |" in overview()


def test_an_exercise_without_points_is_no_division_by_zero() -> None:
    note_attempt("q0", 0, 0, {"warm-up": "pass"})
    found = best("q0")
    assert found and found.points == "0/0"


def test_half_a_point_is_written_as_such() -> None:
    assert note_attempt("q1", 13.5, 20, FOUND).points == "13.5/20"


def test_the_highest_hint_counts() -> None:
    for number in (1, 3, 2):
        note_hint("q1", number)
    assert (hints_taken("q1"), hints_taken("q2")) == (3, 0)


def test_a_reset_is_noted_and_takes_nothing_away(home: Path) -> None:
    note_attempt("q1", 14, 20, FOUND)
    note_hint("q1", 2)
    note_reset("q1")
    (entry,) = document(home)["resets"]
    assert UTC.fullmatch(entry.pop("at")) and entry == {"question": "q1"}
    assert (tries("q1"), hints_taken("q1")) == (1, 2)


# --- what is refused

EXERCISE = "it must be the name of an exercise, like 'q1'."
POINTS = "it must be a finite number, 0 or more."
NAMED = "they must name each check and what it found."


@pytest.mark.parametrize(
    ("call", "message"),
    [
        *(
            (lambda call=call, name=name: call(name), f"The question is {name!r}; {EXERCISE}")
            for name in ("02.crash", "Q1", "q1.ipynb", "q", "q٣", 1, None)
            for call in (
                lambda name: note_attempt(name, 1, 2, FOUND),
                lambda name: note_hint(name, 1),
                note_reset,
                tries,
                best,
                hints_taken,
            )
        ),
        (lambda: attempts("crash"), f"The question is 'crash'; {EXERCISE}"),
        *(
            (lambda score=score: note_attempt("q1", score, 20, FOUND), f"The score for q1 is {score!r}; {POINTS}")
            for score in (-1, float("nan"), float("inf"), True, "14", None)
        ),
        (lambda: note_attempt("q1", 1, -2, FOUND), f"The number of points for q1 is -2; {POINTS}"),
        (
            lambda: note_attempt("q1", 21, 20, FOUND),
            "The score for q1 is 21; it must be at most 20, the number of points.",
        ),
        *(
            (lambda found=found: note_attempt("q1", 1, 2, found), f"The findings for q1 are {found!r}; {NAMED}")
            for found in ({}, None, ["pass"], {1: "pass"}, {"told once": True})
        ),
        (
            lambda: note_attempt("q1", 1, 2, {"told once": "passed"}),
            "The finding of 'told once' for q1 is 'passed'; it must be one of: 'pass', 'fail', 'error', 'time-out', "
            "'memory', 'not attempted', 'not tested'.",
        ),
        *(
            (
                lambda seed=seed: note_attempt("q1", 1, 2, FOUND, seed),
                f"The seed for q1 is {seed!r}; it must be a whole number, or None for no seed.",
            )
            for seed in (1.5, True, "7")
        ),
        *(
            (
                lambda number=number: note_hint("q1", number),
                f"The number of the hint for q1 is {number!r}; it must be a whole number from 1 to 99.",
            )
            for number in (0, -1, 1.0, True, None)
        ),
    ],
)
def test_what_is_no_answer_to_an_exercise_is_refused_and_not_stored(
    call: Callable[[], object], message: str, home: Path
) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        call()
    assert not home.exists()


@pytest.mark.parametrize("finding", FINDINGS)
def test_every_finding_can_be_noted(finding: str) -> None:
    assert note_attempt("q1", 0, 20, {"told once": finding}).findings == {"told once": finding}


# --- what somebody else has written

GOOD = {"question": "q1", "score": 1, "of": 2, "findings": {"told once": "fail"}}


@pytest.mark.parametrize(
    "entry",
    [
        None,
        7,
        "q1",
        [],
        {},
        GOOD | {"question": "02.crash"},
        GOOD | {"question": "q" + "1" * 5000},
        GOOD | {"score": "1"},
        GOOD | {"score": 3},
        GOOD | {"score": True},
        GOOD | {"findings": {}},
        GOOD | {"findings": ["fail"]},
        GOOD | {"findings": {"told once": 3}},
    ],
)
def test_an_attempt_that_cannot_be_read_is_kept_and_not_counted(entry: Any, home: Path) -> None:
    write(home, {"predictions": [], "attempts": [entry]})
    note_attempt("q2", 1, 2, FOUND)
    assert document(home)["attempts"][0] == entry
    assert [attempt.question for attempt in attempts()] == ["q2"]


@pytest.mark.parametrize("entry", [None, {}, {"question": "q1"}, {"question": "q1", "number": "2"}, {"number": 2}])
def test_a_hint_that_cannot_be_read_is_kept_and_not_counted(entry: Any, home: Path) -> None:
    write(home, {"predictions": [], "hints": [entry]})
    note_hint("q1", 1)
    assert document(home)["hints"][0] == entry
    assert hints_taken("q1") == 1


def test_what_a_newer_check_found_is_read_as_it_is(home: Path) -> None:
    write(home, {"attempts": [GOOD | {"findings": {"told once": "flaky"}, "mood": "calm"}]})
    assert [attempt.lost for attempt in attempts()] == [("told once",)]


@pytest.mark.parametrize("name", ["attempts", "hints", "resets"])
def test_something_else_in_the_place_of_a_list_is_kept(name: str, home: Path) -> None:
    write(home, {"format": 2, "predictions": [], name: {"by": "a newer version"}})
    assert overview() == "Your progress: no predictions yet.\n\nYour answers: no attempts yet."
    {
        "attempts": lambda: note_attempt("q1", 1, 2, FOUND),
        "hints": lambda: note_hint("q1", 1),
        "resets": lambda: note_reset("q1"),
    }[name]()
    assert document(home)[name][0] == {"by": "a newer version"}
    assert (document(home)["format"], len(document(home)[name])) == (2, 2)


def test_a_model_answer_that_was_looked_at_is_told_beside_the_hints(home):
    note_attempt("q1", 3, 20, {"told once": "fail"})
    note_hint("q1", 2)
    note_model_answer("q1")
    assert "| 2, and the answer |" in overview()
    assert hints_taken("q1") == 2
