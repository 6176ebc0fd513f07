"""What is due is computed in UTC from the reviews alone; a person reads local times."""

from dataclasses import asdict
from datetime import UTC, datetime, timedelta, timezone

import pytest

from labkit.interview import local, pick, slots, told, upcoming
from labkit.interview.schedule import ASKED, due
from labkit.progress.interviews import is_review

from .conftest import review

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
ALL = (1, 2, 3, 4, 5, 6)


def after(hours: float, **changes):
    at = (NOON + timedelta(hours=hours)).isoformat()
    return review(at=at, **changes)


def test_nothing_was_asked_yet_so_the_first_ones_are_new_and_in_order():
    assert pick(slots([]), NOON, 3) == ASKED[:3] == ("n1", "n2", "n3")


def test_every_question_of_the_kit_can_be_asked():
    assert [slot.question for slot in slots([])] == list(ASKED)
    assert len(pick(slots([]), NOON, 100)) == len(ASKED)


def test_what_was_missed_comes_again_the_same_day():
    assert due([after(0, points=())]) == NOON + timedelta(minutes=10)


def test_what_was_known_comes_again_after_days_and_later_each_time():
    first = due([after(0, points=ALL)])
    assert first is not None and first - NOON >= timedelta(days=1)
    second = due([after(0, points=ALL), review(at=first.isoformat(), points=ALL)])
    assert second is not None and second - first > first - NOON


def test_the_better_the_answer_the_later_it_comes_again():
    dates = [due([after(0, points=ALL[:known])]) for known in (0, 2, 4, 6)]
    assert dates == sorted(dates, key=lambda date: date or NOON) and len(set(dates)) == 4


def test_the_same_reviews_give_the_same_date_in_any_order():
    both = [after(0, points=ALL), after(30, points=())]
    assert slots(both) == slots(both[::-1])


def test_nothing_is_drawn_at_random():
    known = [after(24 * days, points=ALL) for days in (0, 9, 40)]
    assert len({due(known) for _ in range(20)}) == 1


def test_what_has_been_due_for_longest_comes_first_and_new_ones_after_it():
    plan = slots([after(2, question="n1", points=()), after(1, question="n3", points=())])
    assert pick(plan, NOON + timedelta(hours=5), 4) == ("n3", "n1", "n2", "n4")


def test_what_is_not_due_yet_is_not_asked():
    plan = slots([after(0, question="n1", points=ALL)])
    assert "n1" not in pick(plan, NOON + timedelta(hours=1), 100)
    soonest = upcoming(plan, NOON)
    assert soonest is not None and soonest.question == "n1" and soonest.due is not None
    assert "n1" in pick(plan, soonest.due, 1)


def test_a_question_that_is_no_more_in_the_kit_is_left_out():
    assert "n99" not in {slot.question for slot in slots([after(0, question="n99")])}


@pytest.mark.parametrize("at", ["2000-01-01T00:00:00Z", "2899-12-31T23:59:59Z"])
def test_the_first_and_the_last_date_that_a_file_may_hold_can_be_reckoned_with(at):
    slot = slots([review(at=at, points=ALL)] * 9, ["n1"])[0]
    assert slot.due is not None and is_review(asdict(review(at=at)))
    for hours in (-14, 14):
        assert told(slot, NOON, zone(hours)).startswith("due ")


# -- time zones


def zone(hours: float) -> timezone:
    return timezone(timedelta(hours=hours), "HERE")


def test_a_review_late_in_the_evening_is_due_at_a_local_time_past_midnight():
    evening = datetime(2026, 3, 1, 23, 55, tzinfo=zone(1))
    slot = slots([review(at=evening.isoformat(), points=())], ["n1"])[0]
    assert told(slot, evening.astimezone(UTC), zone(1)) == "due on Mon 02 Mar 2026, 00:05 HERE"


@pytest.mark.parametrize("hours", [-11, -3.5, 0, 5.75, 14])
def test_a_journey_changes_what_is_read_and_not_what_is_due(hours):
    here = NOON.astimezone(zone(hours))
    at_home, away = (slots([review(at=each.isoformat(), points=())], ["n1"])[0] for each in (NOON, here))
    assert at_home == away
    moment = NOON + timedelta(minutes=10)
    assert pick([away], moment.astimezone(zone(hours)), 1) == ("n1",)
    assert pick([away], (moment - timedelta(seconds=1)).astimezone(zone(hours)), 1) == ()
    assert told(away, NOON, zone(hours)) == f"due on {local(moment, zone(hours))}"


def test_the_words_for_new_and_overdue():
    new, old = slots([after(0, question="n2", points=())], ["n1", "n2"])
    assert told(new, NOON) == "new"
    assert told(old, NOON + timedelta(days=1), UTC) == "due since Sun 01 Mar 2026, 12:10 UTC"
