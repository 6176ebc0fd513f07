"""The interview in a notebook: boxes and buttons, a clock without a thread, and words that are kept."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import ipywidgets
import pytest

from labkit.panels.interview import Interview, interview
from labkit.panels.timer import soon
from labkit.progress import Progress


class Kernel:
    """A clock and an event loop, in virtual time."""

    def __init__(self) -> None:
        self.now, self.waiting = 0.0, list[tuple[float, Callable[[], None]]]()

    def clock(self) -> float:
        return self.now

    def later(self, seconds: float, act: Callable[[], None]) -> None:
        self.waiting.append((self.now + seconds, act))

    def run(self, seconds: float) -> None:
        end = self.now + seconds
        while due := [each for each in self.waiting if each[0] <= end]:
            first = min(due, key=lambda each: each[0])
            self.waiting.remove(first)
            self.now = first[0]
            first[1]()
        self.now = end


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("LABKIT_HOME", str(tmp_path / "home"))
    yield
    ipywidgets.Widget.close_all()


@pytest.fixture
def kernel() -> Kernel:
    return Kernel()


def shown(widget: Any) -> Iterator[Any]:
    yield widget
    for child in getattr(widget, "children", ()):
        yield from shown(child)


def press(panel: Interview, label: str, times: int = 1) -> None:
    buttons = (each for each in shown(panel) if getattr(each, "description", "") == label and hasattr(each, "click"))
    button = next(buttons)
    for _ in range(times):
        button.click()


def text(panel: Interview) -> str:
    return "\n".join(each.value for each in shown(panel) if isinstance(each, ipywidgets.HTML))


def begun(kernel: Kernel, *questions: str) -> Interview:
    panel = interview(*questions, clock=kernel.clock, later=kernel.later)
    press(panel, "Begin")
    return panel


def score(panel: Interview, points: int, clear: int = 4) -> None:
    press(panel, "I have answered")
    for box, _ in panel.points[:points]:
        box.value = True
    panel.clear.value = clear
    press(panel, "Scored")


def finish(panel: Interview, got: str = "yes") -> None:
    press(panel, "I have answered")
    press(panel, "Prove it")
    press(panel, "Show the answer")
    panel.got.value = got
    press(panel, "Next")


def record() -> Any:
    return Progress.open().record()


def test_a_whole_interview(kernel: Kernel) -> None:
    panel = begun(kernel, "n1", "n2")
    score(panel, 6)
    finish(panel)
    assert "Question 2 of 2 · n2" in text(panel)
    score(panel, 3)
    finish(panel, got="no")
    assert "<b>Summary</b>" in text(panel) and "<svg" in text(panel)
    assert [(each.question, len(each.points), each.got, each.proved) for each in record().reviews] == [
        ("n1", 6, "yes", "first"),
        ("n2", 3, "no", "first"),
    ]


def test_the_clock_is_seen_to_go_and_starts_with_the_question(kernel: Kernel) -> None:
    panel = interview("n1", clock=kernel.clock, later=kernel.later)
    kernel.run(100)
    press(panel, "Begin")
    kernel.run(65)
    assert '<b style="font-variant-numeric:tabular-nums">1:05</b> of 3:00 aloud, or 6:00 in writing' in text(panel)


def test_the_clock_stops_with_the_answer_and_the_time_is_noted(kernel: Kernel) -> None:
    panel = begun(kernel, "n1")
    kernel.run(200)
    press(panel, "I have answered")
    kernel.run(1000)
    assert kernel.waiting == [] and "3:20 aloud; 3:00 were allowed" in text(panel)
    assert record().replies[0].seconds == 200


def test_a_kernel_that_was_busy_is_late_and_not_wrong(kernel: Kernel) -> None:
    panel = begun(kernel, "n1")
    kernel.now += 90  # a cell that ran so long
    kernel.run(1)
    assert ">1:31<" in text(panel)


def test_the_clock_starts_no_thread_and_ends_with_its_widget() -> None:
    async def played() -> int:
        panel = interview("n1", later=soon)
        press(panel, "Begin")
        assert panel._timer is not None
        panel._timer.close()
        return threading.active_count()

    assert asyncio.run(played()) == threading.active_count()


def test_without_an_event_loop_it_works_without_a_live_clock() -> None:
    panel = interview("n1")
    press(panel, "Begin")
    press(panel, "I have answered")
    assert len(record().replies) == 1


def test_words_are_noted_before_they_are_scored(kernel: Kernel) -> None:
    panel = begun(kernel, "n1")
    panel.words.value = "It depends.\n<b>"
    press(panel, "I have answered")
    assert record().replies[0].text == "It depends.\n<b>" and "&lt;b&gt;" in text(panel)


def test_words_are_noted_when_the_interview_is_left(kernel: Kernel) -> None:
    panel = begun(kernel, "n1")
    panel.words.value = "half a thought"
    press(panel, "Leave the interview")
    assert record().replies[0].text == "half a thought" and record().reviews == ()
    assert "No answer was scored" in text(panel)


def test_what_was_ticked_is_noted_when_the_follow_up_is_left(kernel: Kernel) -> None:
    panel = begun(kernel, "n1")
    score(panel, 4)
    press(panel, "Leave the interview")
    assert [(review.points, review.got) for review in record().reviews] == [((1, 2, 3, 4), "")]


def test_the_follow_up_depends_on_what_was_missed(kernel: Kernel) -> None:
    panel = begun(kernel, "n1")
    score(panel, 4)
    assert "You missed 5, 6" in text(panel) and panel.sitting is not None
    assert panel.sitting.asks.after == (1, 2, 4, 6)


def test_a_run_is_shown_as_a_picture_for_each_of_its_strings(kernel: Kernel) -> None:
    panel = begun(kernel, "n1")
    score(panel, 6)
    press(panel, "I have answered")
    press(panel, "Prove it")
    assert panel.picture.value.count("<img") == 2


def test_the_run_after_the_answer_counts_as_that(kernel: Kernel) -> None:
    panel = begun(kernel, "n1")
    score(panel, 6)
    press(panel, "I have answered")
    press(panel, "Show the answer")
    press(panel, "Prove it")
    assert panel.sitting is not None and panel.sitting.proved == "after"


def test_what_is_not_chosen_yet_is_asked_for(kernel: Kernel) -> None:
    panel = begun(kernel, "n1")
    press(panel, "I have answered")
    press(panel, "Scored")
    assert "Choose first how well you could be followed." in text(panel)


def test_a_second_click_on_an_answer_notes_it_once(kernel: Kernel) -> None:
    panel = begun(kernel, "n1")
    press(panel, "I have answered", times=2)
    assert len(record().replies) == 1 and "key points" in text(panel).lower()


def test_a_second_click_on_next_skips_no_question(kernel: Kernel) -> None:
    panel = begun(kernel, "n1", "n2", "n3")
    score(panel, 6)
    press(panel, "I have answered")
    press(panel, "Show the answer")
    panel.got.value = "yes"
    press(panel, "Next", times=2)
    assert "Question 2 of 3" in text(panel) and len(record().reviews) == 1


def test_a_click_that_was_refused_may_be_made_again(kernel: Kernel) -> None:
    panel = begun(kernel, "n1")
    press(panel, "I have answered")
    press(panel, "Scored")
    panel.clear.value = 3
    press(panel, "Scored")
    assert "The interviewer goes on" in text(panel)


def test_an_error_behind_a_button_is_said_in_the_panel(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    panel = begun(kernel, "n1")
    monkeypatch.setattr("labkit.panels.interview.prove", lambda run: 1 / 0)
    score(panel, 6)
    press(panel, "I have answered")
    press(panel, "Prove it")
    assert "That did not work: ZeroDivisionError" in text(panel)


def test_when_nothing_is_due_it_says_when_something_is(kernel: Kernel) -> None:
    panel = begun(kernel, "n1")
    score(panel, 6)
    finish(panel)
    assert "A mock interview: n2." in repr(interview(number=1))
    panel._show()
    panel = Interview((), kernel.clock, kernel.later)
    assert "Nothing is due. The next one is n1, due on" in text(panel)


def test_a_saved_notebook_keeps_one_sentence(kernel: Kernel) -> None:
    bundle = interview("n1", clock=kernel.clock, later=kernel.later)._repr_mimebundle_()
    assert bundle["text/plain"] == "A mock interview: n1. Run this cell to be interviewed."
    assert bundle["text/plain"] in bundle["text/html"]


def test_to_show_it_writes_nothing(kernel: Kernel) -> None:
    interview(clock=kernel.clock, later=kernel.later)
    assert not Progress.open().path.exists()


def test_a_question_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValueError, match="No question is called 'n9'"):
        interview("n9")
