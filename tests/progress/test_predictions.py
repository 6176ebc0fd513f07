"""Say it, then run it: a prediction is kept as it was made, and the run is set beside it."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from labkit.progress import Progress, predict, settle, summary
from tests.progress.page import UTC, document, write

CHOICES = ["after the TTL", "never"]


# --- say it, then run it


def test_a_prediction_is_in_the_file_when_predict_returns(home: Path) -> None:
    predict("02.crash", "never", choices=CHOICES, confidence=70)
    (entry,) = document(home)["predictions"]
    assert UTC.fullmatch(entry.pop("at"))
    assert entry == {
        "question": "02.crash",
        "notebook": "02",
        "answer": "never",
        "choices": CHOICES,
        "confidence": 70,
        "outcome": None,
        "settled": None,
    }


def test_a_prediction_shows_itself_as_a_sentence_without_a_date() -> None:
    assert repr(predict("02.crash", "never", CHOICES, 70)) == "You predict 'never' for 02.crash (70 % sure)."


def test_the_run_that_agrees() -> None:
    predict("02.crash", "never", choices=CHOICES, confidence=70)
    assert settle("02.crash", "never") == "You said 'never' (70 % sure), and so says the run."


def test_the_run_that_disagrees() -> None:
    predict("02.crash", "never", choices=CHOICES)
    assert settle("02.crash", "after the TTL") == "You said 'never'; the run says 'after the TTL'."


def test_an_outcome_that_nobody_offered_is_told_as_such() -> None:
    predict("02.crash", "never", choices=CHOICES)
    expected = "You said 'never'; the run says 'at once', which was not among the choices."
    assert settle("02.crash", "at once") == expected


def test_a_run_without_a_prediction_is_told_and_stores_nothing(home: Path) -> None:
    assert settle("02.crash", "never") == "You made no prediction for 02.crash; the run says 'never'."
    assert summary() == "Your progress: no predictions yet."


def test_a_sentence_ends_a_cell_without_quotation_marks() -> None:
    predict("02.crash", "never")
    assert repr(settle("02.crash", "never")) == "You said 'never', and so says the run."


def test_the_outcome_and_its_time_are_stored(home: Path) -> None:
    predict("02.crash", "never")
    settle("02.crash", "after the TTL")
    (entry,) = document(home)["predictions"]
    assert entry["outcome"] == "after the TTL"
    assert UTC.fullmatch(entry["settled"])


@pytest.mark.parametrize(("answer", "outcome", "right"), [(2, 2.0, True), (1, True, False), (False, False, True)])
def test_numbers_and_truth_values_are_answers_too(answer: Any, outcome: Any, right: bool) -> None:
    predict("02.count", answer)
    settle("02.count", outcome)
    (stored,) = Progress.open().predictions()
    assert stored.right is right


# --- history


def test_predicting_anew_adds_to_the_history() -> None:
    predict("02.crash", "never")
    predict("02.crash", "after the TTL")
    assert [stored.answer for stored in Progress.open().predictions()] == ["never", "after the TTL"]


def test_the_run_settles_the_latest_prediction_of_its_question_only() -> None:
    for question, answer in [("02.crash", "never"), ("02.crash", "after the TTL"), ("02.del", "never")]:
        predict(question, answer)
    settle("02.crash", "after the TTL")
    assert [stored.outcome for stored in Progress.open().predictions()] == [None, "after the TTL", None]


def test_settling_twice_alike_changes_nothing(home: Path) -> None:
    predict("02.crash", "never")
    first = settle("02.crash", "never")
    before = (home / "progress.json").stat()
    assert settle("02.crash", "never") == first
    assert (home / "progress.json").stat() == before


def test_another_outcome_of_a_second_run_is_added_and_the_first_is_kept() -> None:
    predict("02.crash", "never")
    settle("02.crash", "never")
    assert settle("02.crash", "after the TTL") == "You said 'never'; the run says 'after the TTL'."
    assert [stored.outcome for stored in Progress.open().predictions()] == ["never", "after the TTL"]


# --- what is refused


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: predict("02.crash", "Never", choices=CHOICES),
            "The answer to 02.crash is 'Never'; it must be one of: 'after the TTL', 'never'.",
        ),
        (
            lambda: predict("02.crash", True, choices=[0, 1]),
            "The answer to 02.crash is True; it must be one of: 0, 1.",
        ),
        (
            lambda: predict("crash", None),
            "The question is 'crash'; it must be a notebook and a name, like '02.crash'.",
        ),
        (
            lambda: predict("02.crash", float("nan")),
            "The answer to 02.crash is nan; it must be a text, a finite number, True or False.",
        ),
        (
            lambda: settle("02.crash", ["never"]),  # type: ignore[arg-type]
            "The outcome of 02.crash is ['never']; it must be a text, a finite number, True or False.",
        ),
        (
            lambda: predict("crash", "never"),
            "The question is 'crash'; it must be a notebook and a name, like '02.crash'.",
        ),
        *(
            (
                lambda value=value: predict("02.crash", "never", confidence=value),
                f"The confidence for 02.crash is {value!r}; it must be a whole number from 0 to 100.",
            )
            for value in (-1, 101, 0.7, "high", True)
        ),
    ],
)
def test_what_is_no_answer_is_refused_with_what_is_allowed_and_not_stored(
    call: Callable[[], object], message: str, home: Path
) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        call()
    assert not home.exists()


@pytest.mark.parametrize("confidence", [0, 100, None])
def test_the_bounds_of_confidence_belong_to_it(confidence: int | None) -> None:
    assert predict("02.crash", "never", confidence=confidence).confidence == confidence


def test_an_unanswered_question_says_what_may_be_put_and_stores_nothing(home: Path) -> None:
    said = predict("02.crash", None, choices=["never", "after the TTL"], confidence=50)

    assert said == (
        "No prediction for 02.crash yet: put one of 'never', 'after the TTL' in place of None, and run this cell again."
    )
    assert not home.exists()


# --- your progress


def test_an_empty_home_has_an_empty_summary_and_stays_empty(home: Path) -> None:
    assert repr(summary()) == "Your progress: no predictions yet."
    assert not home.exists()


def test_the_summary_is_a_table_of_the_latest_answers_without_dates() -> None:
    predict("02.del", "the other client", confidence=60)
    predict("02.crash", "never", confidence=70)
    predict("02.crash", "after the TTL", confidence=90)
    settle("02.crash", "never")
    predict("00.pause", "two")
    settle("00.pause", "two")
    assert summary() == (
        "Your progress: 3 predicted, 2 settled by a run, 1 right.\n"
        "\n"
        "| question | you said | sure | the run says |\n"
        "| --- | --- | --- | --- |\n"
        "| 00.pause | two |  | ✓ the same |\n"
        "| 02.crash | after the TTL | 90 % | ✗ never |\n"
        "| 02.del | the other client | 60 % | not run yet |"
    )


def test_the_summary_draws_itself_in_a_notebook() -> None:
    predict("02.crash", "never")
    assert summary()._repr_markdown_() == str(summary())


def test_an_answer_cannot_break_the_table() -> None:
    predict("02.crash", "a|b\nc\\d")
    assert summary().splitlines()[-1] == "| 02.crash | a\\|b c\\\\d |  | not run yet |"


# --- what somebody else has written


def test_what_a_newer_version_wrote_is_kept(home: Path) -> None:
    newer = {"question": "02.crash", "answer": "never", "at": "2030-01-01T00:00:00Z", "mood": "calm"}
    write(home, {"format": 2, "attempts": [{"drill": "q2"}], "predictions": [newer]})
    settle("02.crash", "never")
    predict("02.del", "never")
    after = document(home)
    assert (after["format"], after["attempts"]) == (2, [{"drill": "q2"}])
    assert (after["predictions"][0]["mood"], after["predictions"][0]["outcome"]) == ("calm", "never")


@pytest.mark.parametrize("entry", [None, 7, [], {}, {"question": "02.crash"}, {"question": 2, "answer": {}}])
def test_an_entry_that_cannot_be_read_is_kept_and_not_counted(entry: Any, home: Path) -> None:
    write(home, {"predictions": [entry, {"question": "02.del", "answer": "never"}]})
    predict("02.crash", "never")
    assert document(home)["predictions"][0] == entry
    assert [stored.question for stored in Progress.open().predictions()] == ["02.del", "02.crash"]


@pytest.mark.parametrize("field", ["confidence", "outcome", "choices", "settled", "at"])
def test_a_field_edited_into_nonsense_breaks_nothing(field: str, home: Path) -> None:
    write(home, {"predictions": [{"question": "02.crash", "answer": "never", field: {"odd": [1]}}]})
    assert "02.crash" in summary()
    assert settle("02.crash", "never")
