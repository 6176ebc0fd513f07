"""A panel says in one sentence what it shows, refuses nonsense before it plays, and does not grow under the hand."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import ipywidgets
import pytest

from labkit import viz
from labkit.checks import Judgement
from labkit.locks import PlainDelLock
from labkit.panels import Panel, panel
from labkit.stories import find
from labkit.timeline import Timeline
from labkit.verdict import Verdict

MODULE = panel.__globals__  # the function hides its module's name
VIEW = "application/vnd.jupyter.widget-view+json"
GC_PAUSE = ("one_believer", "no_stale_write")


class MyLock(PlainDelLock):
    """A lock as a learner writes it."""


class BuggyLock(PlainDelLock):
    def try_acquire(self) -> Any:
        raise ZeroDivisionError("my own mistake")


@pytest.fixture(autouse=True)
def no_widget_is_left() -> Iterator[None]:
    yield
    ipywidgets.Widget.close_all()


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The parameters of each run that a panel asks for."""
    runs: list[dict[str, Any]] = []
    play: Callable[..., Timeline] = MODULE["play"]

    def counting(story: Any, **values: Any) -> Timeline:
        runs.append(values)
        return play(story, **values)

    monkeypatch.setitem(MODULE, "play", counting)
    return runs


def picture(shown: Panel) -> str:
    return str(shown.children[-2].value)


def words(shown: Panel) -> str:
    return str(shown.children[-1].value)


# --- what it says


def test_its_text_is_one_sentence_that_names_the_story_and_what_broke() -> None:
    shown = panel("gc-pause", "pause", checks=GC_PAUSE, pause=35)
    assert repr(shown) == "Panel of the story «gc-pause»: this run breaks one_believer, no_stale_write."


def test_its_text_says_so_when_nothing_broke() -> None:
    shown = panel("gc-pause", "pause", checks=GC_PAUSE, pause=8)
    assert repr(shown) == "Panel of the story «gc-pause pause=8.0»: this run breaks nothing that is judged here."


def test_its_text_names_what_was_not_put_to_the_test(monkeypatch: pytest.MonkeyPatch) -> None:
    verdict = Verdict("a claim", None, "nobody tried")
    monkeypatch.setitem(MODULE, "judge", lambda *_: Judgement((verdict,), ""))
    says = repr(panel("gc-pause", "pause", checks="honest"))
    assert says.endswith("this run breaks nothing that is judged here, and does not settle honest.")


def test_two_panels_of_one_run_show_the_same_bytes() -> None:
    one, other = (panel("late-release", "work")._repr_mimebundle_() for _ in range(2))
    assert (one["text/plain"], one["text/html"]) == (other["text/plain"], other["text/html"])


def test_a_notebook_gets_the_widget_and_without_a_kernel_a_picture_and_a_sentence() -> None:
    bundle = panel("gc-pause", "pause")._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html", VIEW}
    assert bundle["text/html"].count("<img alt=") == 1 and bundle["text/plain"] in bundle["text/html"]


def test_the_verdicts_are_written_in_words_and_not_only_marked() -> None:
    shown = panel("gc-pause", checks=GC_PAUSE)
    assert words(shown).count("✗ BROKEN") == 2


def test_what_a_story_or_a_verdict_says_is_text_and_never_markup(monkeypatch: pytest.MonkeyPatch) -> None:
    verdict = Verdict("<i>claim</i>", True, "<i>why</i>")
    monkeypatch.setitem(MODULE, "judge", lambda *_: Judgement((verdict,), ""))
    shown = panel(replace(find("gc-pause"), claim="<i>Who?</i>"), "pause", checks="honest")
    assert "<i>" not in words(shown) + shown.children[0].value


# --- what it refuses


@pytest.mark.parametrize(
    ("arguments", "values", "sentence"),
    [
        (("gc-paus",), {}, "No story is called 'gc-paus'"),
        (("gc-pause", "paus"), {}, "The story gc-pause has no parameter 'paus'; it has lock, ttl, pause, at"),
        (("gc-pause",), {"work": 3}, "The story gc-pause has no parameter 'work'"),
        (("gc-pause",), {"pause": 1000}, "pause=1000 is outside 0.0 … 60.0 s"),
        (("gc-pause",), {"pause": "long"}, "pause='long' is not a number"),
        (("gc-pause",), {"lock": "save"}, "lock='save' is not one of 'two-step'"),
        (("gc-pause",), {"checks": ("one_beliver",)}, "No check is called 'one_beliver'"),
    ],
)
def test_nonsense_is_refused_with_a_sentence_before_anything_runs(
    played: list[dict[str, Any]], arguments: tuple[str, ...], values: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ValueError, match=f"^{sentence}"):
        panel(*arguments, **values)
    assert played == []


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"ttl": 5}, "This panel has no knob 'ttl'; it has pause, at."),
        ({"at": 2, "pause": -1}, "pause=-1 is outside"),
    ],
)
def test_set_turns_nothing_when_one_of_its_values_is_refused(
    played: list[dict[str, Any]], values: dict[str, Any], sentence: str
) -> None:
    shown = panel("gc-pause", "pause", "at")
    before = shown.values
    with pytest.raises(ValueError, match=f"^{sentence}"):
        shown.set(**values)
    assert shown.values == before and len(played) == 1


def test_one_check_may_be_given_by_its_bare_name() -> None:
    assert panel("gc-pause", checks="one_believer").checks == ("one_believer",)


# --- how it moves


def test_a_hand_on_a_slider_changes_the_picture_and_the_verdict() -> None:
    shown = panel("gc-pause", "pause", checks=GC_PAUSE, pause=8)
    before = picture(shown), words(shown)
    shown.knobs["pause"].value = 12.0
    assert picture(shown) != before[0] and "✗ BROKEN" in words(shown) and "✗ BROKEN" not in before[1]


def test_set_turns_several_knobs_and_redraws_once(played: list[dict[str, Any]]) -> None:
    panel("gc-pause", "pause", "ttl", "at").set(pause=12, ttl=5, at=2)
    assert played[1:] == [{"pause": 12.0, "ttl": 5.0, "at": 2.0}]


def test_set_returns_the_panel_so_that_a_cell_may_end_with_it() -> None:
    shown = panel("gc-pause", "pause")
    assert shown.set(pause=12) is shown


def test_a_moved_panel_shows_what_a_new_one_would() -> None:
    moved, new = panel("gc-pause", "pause", pause=8).set(pause=12), panel("gc-pause", "pause", pause=12)
    assert moved._repr_mimebundle_()["text/html"] == new._repr_mimebundle_()["text/html"]


def test_two_hundred_moves_add_no_widget_and_capture_no_output(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(viz, "html", lambda timeline, _: f"<img alt={timeline.end}>")  # to paint 200 times takes long
    shown = panel("lost-release", "ttl", checks="honest")
    before = ipywidgets.Widget.get_manager_state()["state"]
    for move in range(200):
        shown.knobs["ttl"].value = 5.0 + move % 40
    after = ipywidgets.Widget.get_manager_state()["state"]
    assert list(after) == list(before) and len(shown.children) == 4  # heading, knob, picture, words
    assert not any(model["model_name"] == "OutputModel" for model in after.values())


def test_a_slider_waits_until_the_hand_lets_go() -> None:
    assert panel("gc-pause", "pause").knobs["pause"].continuous_update is False


def test_a_run_that_fails_under_the_hand_says_so_in_the_panel_and_the_next_move_recovers() -> None:
    shown = panel("late-release", "work", "lock", checks=("own_release",))
    shown.knobs["lock"].options = [*shown.knobs["lock"].options, ("BuggyLock", BuggyLock)]
    shown.knobs["lock"].value = BuggyLock
    assert "This run could not be played" in words(shown) and picture(shown) == ""
    shown.knobs["lock"].value = "safe"
    assert "✓ holds" in words(shown) and "<img" in picture(shown)


# --- locks of one's own


def test_a_lock_class_of_ones_own_can_be_fixed() -> None:
    shown = panel("late-release", "work", lock=MyLock)
    assert shown.values["lock"] is MyLock and "lock" not in shown.knobs


def test_a_lock_class_of_ones_own_stands_in_the_list_by_its_name() -> None:
    knob = panel("late-release", "lock", lock=MyLock).knobs["lock"]
    assert knob.value is MyLock and knob.options[-1][0] == "MyLock"


def test_set_puts_a_lock_class_into_the_list() -> None:
    shown = panel("late-release", "lock").set(lock=MyLock)
    assert shown.values["lock"] is MyLock


def test_without_names_every_parameter_of_the_story_gets_a_knob() -> None:
    assert list(panel("gc-pause").knobs) == ["lock", "ttl", "pause", "at"]
