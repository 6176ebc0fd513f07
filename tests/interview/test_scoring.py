"""Levels follow from what was ticked, told, proved and timed, by the rule that is printed."""

import pytest

from labkit.interview import AXES, RULE, allowed, history, level, summarise

from .conftest import review


def levels(*reviews):
    return summarise(reviews).levels


@pytest.mark.parametrize(("share", "expected"), [(0, 1), (0.29, 1), (0.3, 2), (0.59, 2), (0.6, 3), (0.85, 4), (1, 4)])
def test_a_share_has_a_level(share, expected):
    assert level(share) == expected


def test_the_rule_names_every_axis():
    assert all(f"{axis}:" in RULE for axis in AXES)


@pytest.mark.parametrize(("points", "wrong", "expected"), [(6, 0, 4), (4, 0, 3), (4, 1, 2), (2, 1, 1), (1, 3, 1)])
def test_depth_is_the_key_points_less_the_wrong_answers(points, wrong, expected):
    scored = review(points=tuple(range(1, points + 1)), wrong=tuple(range(1, wrong + 1)))
    assert levels(scored)["technical depth"] == expected


@pytest.mark.parametrize(("clear", "expected"), [(1, 1), (2, 2), (3, 3), (4, 4)])
def test_communication_is_how_well_one_could_be_followed(clear, expected):
    assert levels(review(clear=clear))["communication"] == expected


@pytest.mark.parametrize("spoken", [True, False])
def test_an_answer_over_time_costs_one_step_of_communication(spoken):
    in_time, late = (review(clear=4, spoken=spoken, seconds=allowed(spoken) + over) for over in (0, 0.1))
    assert (levels(in_time)["communication"], levels(late)["communication"]) == (4, 3)


def test_writing_is_allowed_more_time_than_speaking():
    assert allowed(spoken=False) > allowed(spoken=True)


@pytest.mark.parametrize(("got", "expected"), [("yes", 4), ("partly", 2), ("no", 1), ("", None)])
def test_problem_solving_is_the_follow_up(got, expected):
    assert levels(review(got=got))["problem solving"] == expected


@pytest.mark.parametrize(("proved", "expected"), [("first", 4), ("after", 2), ("", 1)])
def test_verification_is_the_run_and_counts_less_after_the_answer(proved, expected):
    assert levels(review(proved=proved))["verification"] == expected


def test_what_was_left_before_the_follow_up_is_not_tested():
    left = review(clear=0, got="", proved="")
    assert levels(left) == dict.fromkeys(AXES) | {"technical depth": 2}


def test_an_interview_has_the_mean_of_its_answers():
    assert levels(review(got="yes"), review(got="no"), review(got=""))["problem solving"] == 2


def test_the_history_goes_by_interview_and_time():
    first, second = review(interview="b"), review(interview="a", at="2026-03-02T09:00:00Z")
    more = review(interview="b", question="n2", at="2026-03-01T12:20:00Z")
    assert [each.questions for each in history([second, first, more])] == [("n1", "n2"), ("n1",)]
