"""The stories of the course: found by name, played with what a reader turns, replayed by their string."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest
from redis.exceptions import RedisError

from labkit import checks, play, replay
from labkit.locks import SafeLock
from labkit.sim import ClientDied
from labkit.stories import STORIES, find
from labkit.story import Story

LOCKS_OF = {name: story.params["lock"].choices for name, story in STORIES.items() if "lock" in story.params}


class MyLock(SafeLock):
    """A reader's own."""


def test_every_story_has_a_question_and_a_name_of_its_own() -> None:
    for name, story in STORIES.items():
        assert story.name == name == name.lower()
        assert story.claim.endswith("?")
        assert " " not in name


def test_a_story_is_found_by_its_name_or_is_one_already() -> None:
    story = find("gc-pause")
    assert find(story) is story is STORIES["gc-pause"]


def test_an_unknown_story_is_answered_with_those_there_are() -> None:
    with pytest.raises(ValueError, match=r"No story is called 'gc-paus'; there are .*gc-pause"):
        play("gc-paus")


def test_an_unknown_parameter_is_answered_with_those_there_are() -> None:
    with pytest.raises(ValueError, match="gc-pause has no parameter 'pauze'; it has lock, ttl, pause, at"):
        play("gc-pause", pauze=3)


@pytest.mark.parametrize(("value", "told"), [(61, "pause=61 is outside"), ("long", "pause='long' is not a number")])
def test_a_value_that_is_not_allowed_is_named(value: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        play("gc-pause", pause=value)


def test_a_lock_that_does_not_exist_is_answered_with_those_there_are() -> None:
    with pytest.raises(ValueError, match=r"lock='sfae' is not one of 'two-step'.*'safe'"):
        play("gc-pause", lock="sfae")


def test_a_tape_that_cannot_be_read_is_named_before_anything_runs() -> None:
    with pytest.raises(ValueError, match=r"'nonsense' does not read kind\.node\.nth=choice"):
        play("gc-pause", tape="nonsense")


@pytest.mark.parametrize(("story", "lock"), [(name, lock) for name, locks in LOCKS_OF.items() for lock in locks])
def test_every_story_comes_to_its_end_with_every_lock(story: str, lock: str) -> None:
    timeline = play(story, lock=lock)
    assert timeline.ops("acquire")
    assert checks.judge(timeline, "finishes").holds is True


@pytest.mark.parametrize("name", STORIES)
def test_in_every_story_somebody_wants_what_another_has(name: str) -> None:
    assert checks.judge(play(name), "contended").holds is True


@pytest.mark.parametrize("name", STORIES)
def test_the_ends_of_every_parameter_can_be_played(name: str) -> None:
    """A client may die of it, but only of what its client library tells it."""
    for param, about in STORIES[name].params.items():
        for value in (about.low, about.high, *about.choices):
            if value is not None:
                assert isinstance(_cause_of_death(name, param, value), RedisError | None), (param, value)


def _cause_of_death(name: str, param: str, value: Any) -> BaseException | None:
    try:
        play(name, **{param: value})
    except ClientDied as died:
        return died.__cause__
    return None


# -- the string ---------------------------------------------------------------------------------------------------


def test_the_string_names_what_differs_from_the_defaults() -> None:
    assert play("gc-pause").token == "gc-pause #0"
    assert play("gc-pause", pause=35).token == "gc-pause #0"
    assert play("gc-pause", pause=12, lock="ghost", seed=3).token == "gc-pause pause=12.0 lock=ghost #3"
    assert play("gc-pause", tape="latency.A.1=2").token == "gc-pause #0 latency.A.1=2"
    assert play("gc-pause", seed=2, tape=".").token == "gc-pause #2 ."


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"seed": 4},
        {"pause": 12},
        {"lock": "ghost", "ttl": 5},
        {"tape": "latency.A.1=2,tie.B.2=1"},
        {"tape": ".", "seed": 9},
    ],
)
def test_the_string_gives_the_run_again(given: dict[str, Any]) -> None:
    timeline = play("gc-pause", **given)
    assert replay(timeline.token) == timeline


def test_a_lock_of_ones_own_is_named_by_its_place_and_found_there() -> None:
    timeline = play("gc-pause", lock=MyLock)
    assert timeline.token.endswith(f"lock={MyLock.__module__}:MyLock #0")
    assert replay(timeline.token) == timeline


def test_a_lock_that_cannot_be_found_again_is_asked_for() -> None:
    class Local(SafeLock):
        """Not reachable by name."""

    timeline = play("gc-pause", lock=Local)
    with pytest.raises(ValueError, match=r"cannot be imported here: give it again, replay\(token, lock=…\)"):
        replay(timeline.token)
    assert replay(timeline.token, lock=Local) == timeline


@pytest.mark.parametrize(
    "token", ["", "gc-pause", "#0", "gc-pause 0", "gc-pause #x", "gc-pause #0 . more", "#0 gc-pause"]
)
def test_what_is_no_string_of_a_run_is_refused(token: str) -> None:
    with pytest.raises(ValueError, match="is no replay string: it reads «story parameter=value … #seed tape»"):
        replay(token)


def test_a_string_with_an_unknown_story_or_parameter_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="No story is called 'nothing'"):
        replay("nothing #0")
    with pytest.raises(ValueError, match="has no parameter 'pauze'"):
        replay("gc-pause pauze=3 #0")
    with pytest.raises(ValueError, match=r"does not read kind\.node\.nth=choice"):
        replay("gc-pause #0 tape")


def test_a_story_of_ones_own_is_played_and_not_replayed_by_name() -> None:
    def code(me: Any, p: SimpleNamespace) -> None:
        time.sleep(1)
        me.note("done")

    timeline = play(Story("mine", "What happens?", {"A": code}))
    assert timeline.token == "mine #0"
    with pytest.raises(ValueError, match="No story is called 'mine'"):
        replay(timeline.token)
