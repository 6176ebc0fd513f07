"""What the stories of fencing show: which store accepts which late write, and what a token is worth that comes late,
twice, or from a counter that has forgotten."""

from __future__ import annotations

from typing import Any

import pytest

from labkit import checks, play, search
from labkit.locks import FencedLock
from labkit.stores import FencedRegister
from labkit.stories import STORIES
from labkit.stories.fencing import STORES
from labkit.timeline import Timeline

SAFE, LOST = True, False
EARLY: dict[str, Any] = {"pause": 8.5}  # A wakes up between B's read and its write
LATE: dict[str, Any] = {"pause": 12.0}  # A wakes up after B's write


def holds(timeline: Timeline, check: str) -> bool | None:
    return checks.judge(timeline, check).holds


def fences(timeline: Timeline) -> list[tuple[str, int]]:
    return [(op.node, op.value["fence"]) for op in timeline.ops("acquire") if op.outcome == "ok"]


def refused(timeline: Timeline, name: str) -> list[str]:
    return [op.node for op in timeline.ops(name) if op.outcome == "fail"]


# -- s2 and s2′: a late write ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("when", [EARLY, LATE], ids=["before B writes", "after B writes"])
@pytest.mark.parametrize("store", STORES)
def test_a_late_write_before_the_new_holders_is_what_comparing_alone_does_not_catch(store: str, when: Any) -> None:
    """E20: without registration the store hears of B's token only from B's write."""
    registers, compares = store in ("ownerless", "contract"), store != "unchecked"
    timeline = play("late-write", store=store, **when)
    safe = registers or (compares and when is LATE)
    assert [holds(timeline, check) for check in ("no_lost_update", "no_stale_write")] == [safe, safe]
    assert refused(timeline, "write") == (["A"] if safe else [])


@pytest.mark.parametrize("store", STORES)
def test_the_lock_itself_is_not_to_blame(store: str) -> None:
    assert holds(play("late-write", store=store, **EARLY), "exclusive_grants") is True


def test_only_where_holders_register_a_registration_is_recorded() -> None:
    recorded = {store for store in STORES if play("late-write", store=store).ops("register")}
    assert recorded == {"ownerless", "contract"}


def test_a_lock_without_tokens_has_nothing_to_show_to_a_store() -> None:
    timeline = play("late-write", store="contract", lock="safe")
    assert not timeline.ops("register")
    assert holds(timeline, "no_lost_update") is False


def test_a_pause_that_is_shorter_than_the_lease_can_do_harm() -> None:
    assert holds(play("late-write", pause=9.0), "no_lost_update") is False


def test_a_look_at_the_clock_helps_a_holder_that_wakes_before_it() -> None:
    timeline = play("late-write", look="yes")
    assert holds(timeline, "no_stale_write") is True
    assert [op.node for op in timeline.ops("write")] == ["B"]


def test_a_look_at_the_clock_does_not_help_one_that_stands_still_after_it() -> None:
    found = search("late-write", "no_stale_write", faults=("pause",), most=1, look="yes", pause=0.0, comes=0.5)
    assert found.outcome == "broken"


@pytest.mark.parametrize(("store", "outcome"), [("write-only", "broken"), ("contract", "not broken within the bounds")])
def test_a_search_finds_the_hole_of_e20_and_none_in_the_contract(store: str, outcome: str) -> None:
    found = search(
        "late-write", "no_lost_update", faults=("pause",), most=1, store=store, pause=0.0, comes=0.5, think=4.0
    )
    assert found.outcome == outcome


class Mine(FencedRegister):
    """A reader's own."""


@pytest.mark.parametrize("story", ["late-write", "late-token", "weak-store", "repeated-token", "lost-counter"])
def test_a_store_of_ones_own_will_do(story: str) -> None:
    assert play(story, store=Mine).events == play(story, store="contract").events


# -- E27, E78 ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("lag", "safe"), [(2.0, LOST), (0.1, SAFE)])
def test_a_store_that_forgets_its_guard_with_the_write_takes_the_late_one(lag: float, safe: bool) -> None:
    timeline = play("weak-store", lag=lag)
    assert [holds(timeline, check) for check in ("no_lost_update", "no_stale_write")] == [safe, safe]


@pytest.mark.parametrize(("guards", "safe"), [("one a row", False), ("one", True)])
def test_a_guard_has_to_be_as_wide_as_the_lock(guards: str, safe: bool) -> None:
    timeline = play("two-rows", guards=guards)
    assert holds(timeline, "no_stale_write") is safe
    assert refused(timeline, "write") == (["A"] if safe else [])


@pytest.mark.parametrize("lock", ["fenced", "safe"])
def test_each_row_of_an_order_is_a_resource_of_its_own(lock: str) -> None:
    timeline = play("two-rows", lock=lock)
    written = {(op.node, op.args["resource"]) for op in timeline.ops("write")}
    assert written == {("A", "order-7:items"), ("B", "order-7:status")}
    assert timeline.keys == ("order-7",)


# -- E80, E03 ----------------------------------------------------------------------------------------------------------


def test_a_token_drawn_after_the_grant_shuts_the_rightful_holder_out() -> None:
    timeline = play("late-token", lock="incr-outside")
    assert sorted(fences(timeline)) == [("A", 2), ("B", 1)]
    assert refused(timeline, "write") == ["B"]
    assert holds(timeline, "no_stale_write") is False


def test_a_token_of_the_grant_lets_the_store_tell_them_apart() -> None:
    timeline = play("late-token", lock="fenced")
    assert fences(timeline) == [("A", 1), ("B", 2)]
    assert refused(timeline, "register") == ["A"]
    assert holds(timeline, "no_stale_write") is True


@pytest.mark.parametrize(("lock", "free", "honest"), [("fenced-seed", 10.0, False), ("fenced", 3.0, True)])
def test_a_counter_that_holds_no_number_locks_nobody_out_where_it_is_asked_first(
    lock: str, free: float, honest: bool
) -> None:
    timeline = play("junk-counter", lock=lock)
    assert int(timeline.belief("stock")[-1].start) == free
    assert holds(timeline, "honest") is honest


# -- E22, E23: a service that forgets ----------------------------------------------------------------------------------

FATES = [  # E22 and the table of twenty: (7, 7), (9, 7)
    ("strict", SAFE, LOST),
    ("write-only", LOST, LOST),
    ("ownerless", LOST, LOST),
    ("contract", SAFE, SAFE),
]


@pytest.mark.parametrize(("ahead", "numbers"), [(0, [("A", 7), ("B", 7)]), (2, [("A", 9), ("B", 7)])])
def test_a_failover_repeats_a_number_or_goes_below_an_older_one(ahead: int, numbers: list[tuple[str, int]]) -> None:
    timeline = play("repeated-token", store="strict", ahead=ahead)
    assert fences(timeline)[ahead:] == numbers
    assert holds(timeline, "exclusive_grants") is False


@pytest.mark.parametrize(("store", "same", "lower"), FATES)
def test_only_the_pair_of_token_and_owner_loses_no_update_then(store: str, same: bool, lower: bool) -> None:
    fates = [holds(play("repeated-token", store=store, ahead=ahead), "no_lost_update") for ahead in (0, 2)]
    assert fates == [same, lower]


def test_the_rightful_holder_of_a_repeated_number_is_refused_once_and_then_shuts_the_other_out() -> None:
    timeline = play("repeated-token", store="contract")
    assert (refused(timeline, "register"), refused(timeline, "write")) == (["B"], ["A"])
    assert fences(timeline) == [("A", 7), ("B", 7), ("B", 8)]


@pytest.mark.parametrize("ahead", [0, 1, 2])
def test_new_holders_are_refused_until_the_counter_has_caught_up(ahead: int) -> None:
    timeline = play("lost-counter", ahead=ahead)
    answers = [(op.args["fence"], op.outcome) for op in timeline.ops("register") if op.node == "B"]
    assert answers == [(n, "fail") for n in range(1, ahead + 2)] + [(ahead + 2, "ok")]
    assert holds(timeline, "no_lost_update") is True


@pytest.mark.parametrize("store", ["strict", "write-only"])
def test_a_counter_that_starts_again_loses_an_update_where_nobody_registers(store: str) -> None:
    """s6″."""
    timeline = play("lost-counter", store=store)
    assert fences(timeline) == [("A", 1), ("A", 2), ("B", 1)]
    assert holds(timeline, "no_lost_update") is False


# -- common to all -----------------------------------------------------------------------------------------------------

FENCING = ["late-write", "late-token", "weak-store", "two-rows", "junk-counter", "repeated-token", "lost-counter"]


@pytest.mark.parametrize("name", FENCING)
def test_a_story_plays_the_same_twice(name: str) -> None:
    assert play(name, seed=3) == play(name, seed=3)


@pytest.mark.parametrize("name", FENCING)
def test_a_lock_class_of_ones_own_will_do(name: str) -> None:
    assert play(name, lock=FencedLock).events == play(name, lock="fenced").events


@pytest.mark.parametrize("name", FENCING)
def test_by_the_contract_no_seed_loses_an_update(name: str) -> None:
    """Two have their flaw built in: a store that forgets, and a guard for each row."""
    sound: dict[str, dict[str, Any]] = {
        "weak-store": {"lag": 0.1},
        "two-rows": {"guards": "one"},
        "late-write": {"store": "contract"},
    }
    for seed in range(9):
        timeline = play(name, seed=seed, lock="fenced", **sound.get(name, {}))
        assert holds(timeline, "no_lost_update") is not False
        assert holds(timeline, "no_stale_write") is not False


def test_the_store_fails_only_where_that_is_the_story() -> None:
    shops = {name for name in FENCING if "shop" in STORIES[name].servers}
    assert {name for name in shops if "shop" not in STORIES[name].durable} == {"weak-store"}
