"""A story is a value; a parameter takes what is allowed and names what is not."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from labkit.story import Param, Story, word


def nothing(me: Any, p: SimpleNamespace) -> None:
    """An actor that does nothing."""


STORY = Story(
    "one-two",
    "What happens?",
    {"A": nothing},
    {
        "ttl": Param(10.0, 1.0, 60.0),
        "tries": Param(3, 1, 9, unit=""),
        "lock": Param("safe", choices=("safe", "ghost"), classes=True),
    },
)


def test_defaults_are_taken_where_nothing_is_given() -> None:
    assert STORY.settle() == SimpleNamespace(ttl=10.0, tries=3, lock="safe")


@pytest.mark.parametrize(("given", "taken"), [(5, 5.0), ("5", 5.0), (1, 1.0), (60, 60.0), (2.5, 2.5)])
def test_a_number_is_taken_in_the_defaults_own_type(given: Any, taken: float) -> None:
    value = STORY.settle(ttl=given).ttl
    assert (value, type(value)) == (taken, float)


@pytest.mark.parametrize("given", [0.9, 61, -1, float("nan"), float("inf")])
def test_a_number_outside_is_refused_with_its_bounds(given: float) -> None:
    with pytest.raises(ValueError, match=r"is outside 1\.0 … 60\.0 s\.$") as refused:
        STORY.settle(ttl=given)
    assert str(refused.value).startswith(f"ttl={given!r} ")


def test_a_bound_without_a_unit_reads_well() -> None:
    with pytest.raises(ValueError, match=r"^tries=10 is outside 1 … 9\.$"):
        STORY.settle(tries=10)


@pytest.mark.parametrize("given", ["abc", None, [], {}])
def test_what_is_no_number_is_refused(given: Any) -> None:
    with pytest.raises(ValueError, match="is not a number"):
        STORY.settle(ttl=given)


def test_a_choice_is_one_of_those_there_are() -> None:
    assert STORY.settle(lock="ghost").lock == "ghost"
    with pytest.raises(ValueError, match=r"^lock='other' is not one of 'safe', 'ghost', nor a class like theirs\.$"):
        STORY.settle(lock="other")


def test_a_class_of_ones_own_is_a_choice_too() -> None:
    assert STORY.settle(lock=Param).lock is Param


def test_an_unknown_parameter_is_named_with_those_there_are() -> None:
    with pytest.raises(ValueError, match=r"^The story one-two has no parameter 'tll'; it has ttl, tries, lock\.$"):
        STORY.settle(tll=3)


def test_the_title_names_what_differs() -> None:
    assert STORY.title() == "one-two"
    assert STORY.title(ttl=10.0, tries=3) == "one-two"
    assert STORY.title(ttl=5.0, lock=Param) == "one-two ttl=5.0 lock=labkit.story:Param"


def test_a_word_of_the_string_can_be_read_back() -> None:
    assert [word(5.0), word("safe"), word(Param)] == ["5.0", "safe", "labkit.story:Param"]


def test_a_copy_differs_in_what_is_named() -> None:
    other = STORY.but(until=5.0)
    assert (other.until, other.name, STORY.until) == (5.0, "one-two", 120.0)


def test_a_story_sets_the_stage_of_any_world() -> None:
    class Stage:
        """Writes down what it is asked for."""

        def __init__(self) -> None:
            self.asked: list[Any] = []

        def server(self, name: str) -> None:
            self.asked.append(("server", name))

        def client(self, name: str) -> Any:
            return SimpleNamespace(start=lambda actor, p: self.asked.append((name, actor, p.ttl)))

        def arm(self, fault: Any) -> None:
            self.asked.append(fault)

        def run(self, until: float) -> str:
            self.asked.append(until)
            return "a timeline"

    stage = Stage()
    story = STORY.but(faults=lambda p: [f"fault at {p.ttl}"], servers=("one", "two"), until=7.0)
    assert story.run(stage, ttl=2) == "a timeline"
    assert stage.asked == [("server", "one"), ("server", "two"), ("A", nothing, 2.0), "fault at 2.0", 7.0]
