"""What the story of a payment shows: a lock's order of steps decides between twice and never, an outbox ends «never»,
and a key at the receiver ends «twice»."""

from __future__ import annotations

import pytest

from labkit import play, search
from labkit.checks import judge
from labkit.stories import STORIES
from labkit.timeline import Timeline

WAYS = STORIES["payment"].params["by"].choices


def charged(timeline: Timeline) -> int:
    return sum(op.outcome == "ok" for op in timeline.ops("do"))


def test_who_dies_between_the_two_steps_leaves_it_done_twice_or_never_or_once() -> None:
    found = {by: charged(play("payment", by=by)) for by in WAYS}
    assert found == {"charge-first": 2, "record-first": 0, "outbox": 2, "outbox-and-key": 1}


@pytest.mark.parametrize("by", WAYS)
def test_if_nobody_dies_any_way_will_do(by: str) -> None:
    assert charged(play("payment", by=by, dies=0)) == 1


@pytest.mark.parametrize("by", ["charge-first", "outbox"])
def test_without_a_key_some_crash_repeats_the_charge(by: str) -> None:
    assert search("payment", "once", faults=("crash",), most=1, by=by, dies=0).outcome == "broken"


def test_with_outbox_and_key_no_crash_repeats_it_and_the_next_worker_is_told() -> None:
    found = search("payment", "once", faults=("crash",), most=1, by="outbox-and-key", dies=0)
    assert found.outcome == "not broken within the bounds"
    refused = [op.node for op in play("payment", by="outbox-and-key").ops("do") if op.outcome == "fail"]
    assert refused == ["B"]


@pytest.mark.parametrize("by", ["outbox", "outbox-and-key"])
def test_with_an_outbox_the_charge_is_made_whenever_the_worker_dies(by: str) -> None:
    deaths = [at / 2 for at in range(1, 12)]
    assert all(charged(play("payment", by=by, dies=at)) >= 1 for at in deaths)


def test_the_lock_excludes_all_along() -> None:
    assert judge(play("payment"), "exclusive_grants").holds is True


@pytest.mark.parametrize("by", WAYS)
def test_it_plays_the_same_twice(by: str) -> None:
    assert play("payment", seed=3, by=by) == play("payment", seed=3, by=by)
