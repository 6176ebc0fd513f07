"""What is said when nothing is due, and when each question comes again."""

from datetime import timedelta

from labkit.interview import begin, pick, slots
from labkit.interview.schedule import ASKED
from labkit.interview.words import minutes, nothing, plan
from labkit.progress import Progress


def answer_all() -> None:
    for sitting in begin(ASKED):
        sitting.ticked(range(1, len(sitting.drill.rubric.key_points) + 1), []).note()


def test_a_span_is_read_off_a_clock():
    assert [minutes(seconds) for seconds in (0, 59.9, 65, 3600)] == ["0:00", "0:59", "1:05", "60:00"]


def test_when_nothing_is_due_the_next_one_is_named():
    answer_all()
    assert begin() == ()
    assert nothing().startswith("Nothing is due. The next one is n1, due on ")


def test_when_it_is_due_it_is_asked():
    answer_all()
    known = slots(Progress.open().record().reviews)
    latest = max(slot.due for slot in known if slot.due)
    assert len(begin(number=100, now=latest)) == len(ASKED) == len(pick(known, latest + timedelta(days=1), 100))


def test_the_plan_is_a_line_for_each_question():
    assert [line.split()[0] for line in plan().splitlines()] == list(ASKED)
