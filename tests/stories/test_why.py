"""The stories of section one: what is shipped, what is left, and which promise the run breaks."""

from __future__ import annotations

import pytest

from labkit.checks import judge
from labkit.stories import play
from labkit.stories.why import LocalLock
from labkit.timeline import Timeline


def shipped(timeline: Timeline) -> int:
    return sum(note.name.endswith("ships one") for note in timeline.find("note"))


def left(timeline: Timeline, key: str) -> str:
    return timeline.truth(key)[-1].value


def test_two_processes_with_a_lock_each_sell_one_item_twice() -> None:
    timeline = play("oversell", lock="local")
    assert (shipped(timeline), left(timeline, "sold")) == (2, "1")
    assert {v.claim[:2] for v in judge(timeline, "one_believer", "no_lost_update").broken} == {"P2", "P4"}


@pytest.mark.parametrize("late", [0.0, 0.5, 1.9, 2.0])
def test_with_one_lock_for_both_the_item_is_sold_once(late: float) -> None:
    timeline = play("oversell", lock="safe", late=late)
    assert (shipped(timeline), left(timeline, "sold")) == (1, "1")
    assert judge(timeline, "one_believer", "no_lost_update").holds is True


def test_who_comes_after_the_write_sees_it_without_any_lock() -> None:
    timeline = play("oversell", lock="local", late=3.0)
    assert shipped(timeline) == 1
    assert judge(timeline, "no_lost_update").holds is True


def test_a_payment_longer_than_the_lease_oversells_under_the_safe_lock() -> None:
    timeline = play("oversell", lock="safe", think=12.0)
    assert shipped(timeline) == 2
    assert judge(timeline, "exclusive_grants").holds is True
    assert judge(timeline, "no_lost_update").holds is False


def test_a_lock_for_each_order_protects_nothing_that_orders_share() -> None:
    timeline = play("finer-keys", keys="order")
    assert shipped(timeline) == 2
    assert judge(timeline, "one_believer").holds is None
    assert judge(timeline, "no_lost_update").holds is False


def test_a_lock_for_the_item_does() -> None:
    timeline = play("finer-keys", keys="sku")
    assert shipped(timeline) == 1
    assert judge(timeline, "one_believer", "no_lost_update").holds is True


EFFECTS = {"draft": ("draft", "7", "7"), "mail": ("outbox", "['order-7']", "['order-7', 'order-7']")}
EFFECTS["stock"] = ("sold", "2", "1")


@pytest.mark.parametrize("effect", EFFECTS)
def test_the_same_lost_lock_leaves_a_draft_right_and_mail_and_stock_wrong(effect: str) -> None:
    key, calm, late = EFFECTS[effect]
    assert left(play("done-twice", effect=effect, pause=0), key) == calm
    assert left(play("done-twice", effect=effect), key) == late


@pytest.mark.parametrize("effect", EFFECTS)
def test_the_judges_say_the_same_of_all_three(effect: str) -> None:
    verdict = judge(play("done-twice", effect=effect), "exclusive_grants", "one_believer", "no_stale_write")
    assert [v.holds for v in verdict.verdicts] == [True, False, False]


def test_only_the_count_is_a_lost_update() -> None:
    said = {effect: judge(play("done-twice", effect=effect), "no_lost_update").holds for effect in EFFECTS}
    assert said == {"draft": None, "mail": None, "stock": False}


def test_a_local_lock_lets_one_in_at_a_time() -> None:
    lock = LocalLock("stock")
    assert lock.acquire()
    assert not lock.acquire(timeout=0)
    lock.release()
    assert lock.acquire(timeout=0)


def test_without_a_pause_the_draft_is_written_once() -> None:
    assert len(play("done-twice", effect="draft", pause=0).ops("write")) == 1
    assert len(play("done-twice", effect="draft").ops("write")) == 2
