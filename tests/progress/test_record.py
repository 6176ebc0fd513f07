"""What is told of a progress file: the tables, how sure one was, and other people's files."""

from pathlib import Path
from typing import Any

import pytest

from labkit.progress import (
    Progress,
    Record,
    best,
    calibration,
    hints_taken,
    merge,
    note_attempt,
    note_hint,
    note_reset,
    overview,
    predict,
    settle,
    summary,
    tries,
)
from tests.progress.page import FOUND, UNTOUCHED, document, write

# --- the whole


def test_an_empty_home_has_an_empty_overview_and_stays_empty(home: Path) -> None:
    assert overview() == "Your progress: no predictions yet.\n\nYour answers: no attempts yet."
    assert not home.exists()


def test_the_overview_has_predictions_and_answers_and_how_sure_you_were() -> None:
    predict("02.crash", "never", confidence=90)
    settle("02.crash", "after the TTL")
    note_attempt("q10", 20, 20, {"told once": "pass"})
    note_attempt("q2", 14, 20, {"prompt stop": "fail"})
    note_attempt("q2", 9, 20, FOUND)
    note_attempt("q2", 0, 20, UNTOUCHED)
    note_hint("q3", 2)
    assert overview() == (
        "Your progress: 1 predicted, 1 settled by a run, 0 right.\n"
        "\n"
        "| question | you said | sure | the run says |\n"
        "| --- | --- | --- | --- |\n"
        "| 02.crash | never | 90 % | ✗ after the TTL |\n"
        "\n"
        "Your answers: 3 attempts at 3 questions.\n"
        "\n"
        "| question | attempts | best | hints | lost last time |\n"
        "| --- | --- | --- | --- | --- |\n"
        "| q2 | 2 | 14/20 | 0 | prompt stop, told once |\n"
        "| q3 | 0 | not attempted | 2 |  |\n"
        "| q10 | 1 | 20/20 | 0 | nothing |\n"
        "\n"
        "Settled predictions with a confidence: 1. You were 90 % sure on average, and right in 0 of 1 (0 %)."
    )


def test_the_overview_draws_itself_in_a_notebook() -> None:
    assert overview()._repr_markdown_() == str(overview())


def test_answers_leave_the_summary_of_predictions_as_it_is() -> None:
    predict("02.crash", "never")
    before = summary()
    note_attempt("q1", 14, 20, FOUND)
    note_hint("q1", 1)
    note_reset("q1")
    assert summary() == before


def test_calibration_sets_how_sure_against_how_often_right() -> None:
    for name, answer, confidence in [("a", "yes", 90), ("b", "yes", 60), ("c", "no", 75), ("d", "yes", None)]:
        predict(f"02.{name}", answer, confidence=confidence)
        settle(f"02.{name}", "yes")
    predict("02.open", "yes", confidence=0)
    assert calibration() == (
        "Settled predictions with a confidence: 3. You were 75 % sure on average, and right in 2 of 3 (67 %)."
    )


def test_calibration_takes_the_latest_answer_as_the_summary_does() -> None:
    for answer, confidence in [("no", 100), ("yes", 50)]:
        predict("02.crash", answer, confidence=confidence)
        settle("02.crash", "yes")
    assert "1. You were 50 % sure on average, and right in 1 of 1 (100 %)." in calibration()


def test_calibration_of_nothing_says_so() -> None:
    assert calibration() == "Settled predictions with a confidence: none yet."


def test_a_confidence_edited_into_nonsense_does_not_calibrate(home: Path) -> None:
    odd = {"question": "02.crash", "answer": "yes", "outcome": "yes", "confidence": {"odd": [1]}}
    write(home, {"predictions": [odd]})
    assert calibration() == "Settled predictions with a confidence: none yet."


# --- two files


def other(tmp_path: Path) -> Progress:
    return Progress.open(tmp_path / "other")


def test_merging_adds_what_the_other_file_has(tmp_path: Path) -> None:
    note_attempt("q1", 14, 20, FOUND)
    other(tmp_path).note_attempt("q1", 18, 20, FOUND)
    other(tmp_path).note_hint("q1", 2)
    said = merge(other(tmp_path).path)
    assert said == (
        f"{other(tmp_path).path} is joined to your progress, which has 0 predictions, 2 attempts, 1 hint, "
        "0 replies and 0 reviews now."
    )
    found = best("q1")
    assert found and (found.points, hints_taken("q1"), tries("q1")) == ("18/20", 2, 2)


def test_merging_leaves_the_other_file_alone(tmp_path: Path) -> None:
    other(tmp_path).note_hint("q1", 2)
    before = other(tmp_path).path.read_bytes()
    merge(other(tmp_path).path)
    assert other(tmp_path).path.read_bytes() == before


def test_merging_twice_is_merging_once(home: Path, tmp_path: Path) -> None:
    predict("02.crash", "never")
    other(tmp_path).predict("02.crash", "after the TTL")
    merge(other(tmp_path).path)
    once = document(home)
    merge(other(tmp_path).path)
    assert document(home) == once


def test_a_prediction_that_was_settled_elsewhere_is_settled(home: Path, tmp_path: Path) -> None:
    predict("02.crash", "never")
    write(tmp_path / "other", document(home))
    other(tmp_path).settle("02.crash", "never")
    merge(other(tmp_path).path)
    (stored,) = Progress.open().predictions()
    assert stored.right is True


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "There is no file"),
        ("{", "cannot be read as JSON"),
        ("[]", "not an object"),
        ({"cells": []}, "is no progress file: it lists no predictions and no attempts."),
    ],
)
def test_a_file_that_is_no_progress_is_not_merged(content: Any, why: str, home: Path, tmp_path: Path) -> None:
    if content is not None:
        write(tmp_path / "other", content)
    with pytest.raises(ValueError, match=why):
        merge(other(tmp_path).path)
    assert not home.exists()


def test_a_folder_is_not_merged(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cannot be read"):
        merge(tmp_path)


def test_a_record_is_read_without_a_trace(home: Path) -> None:
    note_attempt("q1", 14, 20, FOUND)
    (home / ".progress.lock").unlink()
    assert Record.load(home / "progress.json").questions() == ("q1",)
    assert [path.name for path in home.iterdir()] == ["progress.json"]
