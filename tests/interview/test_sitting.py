"""What an interview notes, and which follow-up comes next."""

from dataclasses import replace

import pytest

from labkit.drills.drill import NAMES, ORAL, FollowUp, spoken
from labkit.interview import begin
from labkit.progress import Progress


def record():
    return Progress.open().record()


def test_words_are_on_disk_before_they_are_scored():
    (sitting,) = begin(["n1"])
    sitting.answered("  It depends.\nA condition. ", 12.34)
    (reply,) = record().replies
    assert (reply.text, reply.seconds, reply.follow_up, reply.question) == ("It depends.\nA condition.", 12.3, 0, "n1")
    assert record().reviews == ()


def test_what_was_said_aloud_is_noted_without_words():
    (sitting,) = begin(["n1"])
    assert sitting.answered(" \n", 60).spoken and record().replies[0].text == ""


def test_nothing_is_reviewed_before_the_key_points_are_ticked():
    (sitting,) = begin(["n1"])
    sitting.note()
    assert record().reviews == ()


def test_a_review_is_what_was_ticked():
    (sitting,) = begin(["n2"])
    sitting = replace(sitting.answered("", 60).ticked([1, 4], [2]), clear=3, got="partly").proven(after=False)
    sitting.note()
    (review,) = record().reviews
    assert (review.points, review.wrong, review.of, review.clear) == ((1, 4), (2,), 6, 3)
    assert (review.got, review.proved, review.seconds, review.spoken) == ("partly", "first", 60.0, True)


def test_the_first_look_at_a_run_counts():
    (sitting,) = begin(["n2"])
    assert sitting.proven(after=True).proven(after=False).proved == "after"


@pytest.mark.parametrize("name", ORAL)
def test_the_follow_up_is_the_one_that_the_missed_points_lead_to(name):
    (sitting,) = begin([name])
    every = range(1, len(sitting.drill.rubric.key_points) + 1)
    for number, follow_up in enumerate(sitting.drill.rubric.follow_ups, 1):
        said = [point for point in every if point not in follow_up.after]
        assert sitting.ticked(said, []).follow_up == number


def test_of_two_that_fit_alike_the_one_that_was_asked_less_often_comes():
    (sitting,) = begin(["n1"])
    every = range(1, 7)
    first = sitting.ticked(every, [])
    assert first.follow_up == 1
    first.note()
    (again,) = begin(["n1"])
    assert again.ticked(every, []).follow_up == 2


def test_what_was_missed_counts_for_more_than_what_was_asked_less_often():
    (sitting,) = begin(["n1"])
    heard = replace(sitting, heard=(9, 0))
    assert heard.ticked([3, 5], []).follow_up == 1


def test_questions_that_are_named_are_asked_whether_they_are_due_or_not():
    assert [each.drill.name for each in begin(["n4", "q1"])] == ["n4", "q1"]


def test_an_interview_has_one_name_and_the_next_has_another():
    one, other = begin(number=2), begin(number=2)
    assert len({each.interview for each in one}) == 1 and one[0].interview != other[0].interview


def test_a_question_that_there_is_not_is_told_with_those_there_are():
    with pytest.raises(ValueError, match=f"No question is called 'n9'; there are {', '.join((*ORAL, *NAMES))}"):
        begin(["n9"])


@pytest.mark.parametrize("number", [0, -1, True, 2.0])
def test_a_number_of_questions_that_is_none_is_refused(number):
    with pytest.raises(ValueError, match=f"number={number!r} is no number of questions"):
        begin(number=number)


def test_a_follow_up_without_runs_of_its_own_is_proved_by_its_story():
    assert FollowUp("", "failover", "").proof == ("failover #0",)
    assert spoken("n4").rubric.follow_ups[0].proof == ("failover lag=0 #0", "failover to=r2 lag=0 #0")
