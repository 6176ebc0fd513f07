"""Locks of other people run in the world unmodified, and fail there as they do in the field."""

from __future__ import annotations

from typing import Any

import pytest

from labkit import judge, play
from labkit.story import Story
from tests.sim import third_party
from tests.sim.playing import notes

BOTH = [pytest.param(story, refusal, id=name) for name, (story, refusal) in third_party.STORIES.items()]


def verdict(timeline: Any, name: str) -> bool | None:
    return judge(timeline, name).verdicts[0].holds


@pytest.mark.parametrize(("story", "refusal"), BOTH)
def test_a_long_pause_makes_two_believers(story: Story, refusal: type[Exception]) -> None:
    timeline = play(story)
    assert verdict(timeline, "one_believer") is False
    first, second = timeline.belief()[:2]
    assert (first.node, second.node) == ("A", "B")
    assert 9 < second.start < 20
    assert first.end > 35


@pytest.mark.parametrize(("story", "refusal"), BOTH)
def test_the_late_release_is_refused_and_touches_nobody_elses_lock(story: Story, refusal: type[Exception]) -> None:
    timeline = play(story)
    assert f"A is told {refusal.__name__}" in notes(timeline)
    assert verdict(timeline, "own_release") is True
    late = next(op for op in timeline.ops("release") if op.node == "A")
    held = [b for b in timeline.belief() if b.node == "B" and b.start < late.call < b.end]
    assert [b.why for b in held] == ["released"]


@pytest.mark.parametrize(("story", "refusal"), BOTH)
def test_without_a_pause_all_is_well(story: Story, refusal: type[Exception]) -> None:
    timeline = play(story, pause=0)
    assert "A gave it back" in notes(timeline)
    assert verdict(timeline, "one_believer") is True
    assert verdict(timeline, "own_release") is True


def test_renewal_keeps_a_lock_of_ten_seconds_for_a_minute() -> None:
    timeline = play(third_party.story("renewed", third_party.python_redis_lock, work=60.0), pause=0)
    assert "A gave it back" in notes(timeline)
    assert verdict(timeline, "one_believer") is True
    renewals = [op for op in timeline.ops("extend") if op.node == "A"]
    assert len(renewals) == 8
    assert {op.outcome for op in renewals} == {"ok"}
    mine = timeline.belief("lock:stock")[0]
    assert (mine.node, mine.why, len(mine.valid)) == ("A", "released", 1)
    assert mine.end == pytest.approx(60, abs=0.1)


@pytest.mark.parametrize("servers", [("r1",), ("r1", "r2", "r3", "r4", "r5")], ids=["one", "five"])
def test_pottery_runs_with_its_pool_of_threads(servers: tuple[str, ...]) -> None:
    story = third_party.story("pottery", third_party.pottery(*servers), servers=servers)
    calm = play(story, pause=0)
    assert "A gave it back" in notes(calm)
    assert verdict(calm, "one_believer") is True
    paused = play(story)
    assert verdict(paused, "one_believer") is False
    assert "A is told ReleaseUnlockedLock" in notes(paused)
    assert verdict(paused, "own_release") is True


@pytest.mark.parametrize(("story", "refusal"), BOTH)
def test_two_equal_runs_are_equal(story: Story, refusal: type[Exception]) -> None:
    assert play(story) == play(story)
    assert play(story, seed=3) == play(story, seed=3)


def test_an_object_without_room_is_refused_with_a_remedy() -> None:
    from pottery import Redlock

    from tests.sim.playing import result

    def code(me: Any) -> str:
        with pytest.raises(TypeError) as told:
            me.lock(Redlock(key="x", masters={me.redis()}), key="redlock:x")
        return str(told.value)

    assert result(code) == "A Redlock has no room for a watched acquire: use `class Watched(Redlock): pass`."
