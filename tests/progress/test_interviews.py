"""Replies and reviews in the progress file: what is noted, what is refused, and files of other versions."""

import json
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from labkit.progress import Progress, Reply, Review, overview
from labkit.progress.interviews import moment

REPLY = Reply("one", "n1", 0, "It depends.\nOn what?", 61.5, "")
REVIEW = Review("one", "n1", (1, 3), (2,), 6, 3, 1, "partly", "after", 61.5, False, "")
OLD = {"format": 1, "predictions": [{"question": "01.a", "answer": "yes", "at": "2025-01-01T00:00:00Z"}], "mine": [1]}


def written(home: Path, document: object) -> Progress:
    home.mkdir(parents=True, exist_ok=True)
    (home / "progress.json").write_text(json.dumps(document), "utf-8")
    return Progress.open()


def test_a_reply_and_a_review_are_on_disk_with_the_time(home: Path) -> None:
    noted = Progress.open().note_reply(REPLY), Progress.open().note_review(REVIEW)
    record = Progress.open().record()
    assert (record.replies, record.reviews) == ((noted[0],), (noted[1],))
    assert abs(record.reviews[0].when - datetime.now(UTC)).total_seconds() < 60
    assert replace(noted[0], at="") == REPLY and replace(noted[1], at="") == REVIEW


def test_an_old_file_is_read_and_kept(home: Path) -> None:
    progress = written(home, OLD)
    assert progress.record().reviews == () and len(progress.predictions()) == 1
    progress.note_review(REVIEW)
    kept = json.loads((home / "progress.json").read_text("utf-8"))
    assert {name: kept[name] for name in OLD} == OLD and len(kept["reviews"]) == 1


WRONG: list[dict[str, Any]] = [
    {"interview": ""},
    {"interview": None},
    {"question": "x1"},
    {"question": "n1 "},
    {"follow_up": -1},
    {"follow_up": True},
    {"seconds": -1.0},
    {"seconds": float("nan")},
    {"seconds": "1"},
]


@pytest.mark.parametrize("wrong", [*WRONG, {"text": None}])
def test_what_is_no_reply_is_refused_and_not_read(home: Path, wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must"):
        Progress.open().note_reply(replace(REPLY, **wrong))
    assert not home.exists()
    assert written(home, {"replies": [asdict(REPLY) | {"at": "2026-01-01T00:00:00Z"} | wrong]}).record().replies == ()


@pytest.mark.parametrize(
    "wrong",
    [
        *WRONG,
        {"of": 0},
        {"points": (1, 1)},
        {"points": (7,)},
        {"points": ("1",)},
        {"wrong": (0,)},
        {"clear": 5},
        {"clear": True},
        {"got": "maybe"},
        {"proved": True},
        {"spoken": 1},
    ],
)
def test_what_is_no_review_is_refused_and_not_read(home: Path, wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must"):
        Progress.open().note_review(replace(REVIEW, **wrong))
    assert not home.exists()
    entry = asdict(REVIEW) | {"at": "2026-01-01T00:00:00Z"} | wrong
    assert written(home, {"reviews": [entry]}).record().reviews == ()


ODD = ["9999-12-31T23:59:59Z", "2900-01-01T00:00:00Z", "1999-12-31T23:59:59Z", "0001-01-01T00:00:00Z"]


@pytest.mark.parametrize("at", ["", "yesterday", "2026-01-01T00:00:00", None, 7, *ODD])
def test_a_review_without_a_time_that_can_be_read_is_left_out(home: Path, at: object) -> None:
    assert written(home, {"reviews": [asdict(REVIEW) | {"at": at}]}).record().reviews == ()


@pytest.mark.parametrize("entry", [None, 1, "n1", [], {}, {"question": "n1"}])
def test_what_is_no_entry_is_left_out(home: Path, entry: object) -> None:
    record = written(home, {"reviews": [entry], "replies": [entry]}).record()
    assert (record.reviews, record.replies) == ((), ())


def test_a_field_that_only_a_newer_version_knows_is_kept(home: Path) -> None:
    entry = asdict(REVIEW) | {"at": "2026-01-01T00:00:00Z", "mood": "good"}
    progress = written(home, {"reviews": [entry]})
    assert len(progress.record().reviews) == 1
    progress.note_reply(REPLY)
    assert json.loads((home / "progress.json").read_text("utf-8"))["reviews"][0]["mood"] == "good"


def test_reviews_come_by_time_whatever_their_zone(home: Path) -> None:
    times = ["2026-01-01T12:30:00+01:00", "2026-01-01T11:00:00Z", "2026-01-01T05:00:00-05:00"]
    progress = written(home, {"reviews": [asdict(REVIEW) | {"at": at} for at in times]})
    assert [review.at for review in progress.record().reviews] == [times[2], times[1], times[0]]


def test_a_time_is_read_in_utc() -> None:
    assert moment("2026-01-01T12:30:00+01:00") == datetime(2026, 1, 1, 11, 30, tzinfo=UTC)


def test_two_machines_are_joined_without_doubles(home: Path, tmp_path: Path) -> None:
    Progress.open().note_review(REVIEW)
    other = Progress.open(tmp_path / "other")
    other.merge(Progress.open().path)
    other.note_review(replace(REVIEW, interview="two"))
    other.note_reply(REPLY)
    assert Progress.open().merge(other.path).endswith(" 0 hints, 1 reply and 2 reviews now.")
    Progress.open().merge(other.path)
    assert [review.interview for review in Progress.open().record().reviews] == ["one", "two"]


def test_a_file_of_interviews_alone_is_a_progress_file(home: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text(json.dumps({"reviews": [asdict(REVIEW) | {"at": "2026-01-01T00:00:00Z"}]}), "utf-8")
    Progress.open().merge(other)
    assert len(Progress.open().record().reviews) == 1


def test_the_overview_counts_interviews_and_answers(home: Path) -> None:
    assert "interviews" not in overview()
    for reply in (REPLY, replace(REPLY, follow_up=1), replace(REPLY, interview="two")):
        Progress.open().note_reply(reply)
    assert "Your mock interviews: 2, with 2 answers." in overview()
