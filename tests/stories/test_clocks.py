"""Stories of clocks and votes that are trusted: what each parameter of theirs decides."""

from __future__ import annotations

from typing import Any

import pytest

from labkit import judge, play
from labkit.locks import Redlock
from labkit.timeline import Timeline


def holds(timeline: Timeline, check: str = "exclusive_grants") -> bool | None:
    return judge(timeline, check).holds


def left_of_a(timeline: Timeline, second: float = 3.0) -> list[str]:
    """The nodes that have a key of A at this moment."""
    mine = [hold for hold in timeline.truth("stock") if hold.owner == "A"]
    return sorted(hold.server for hold in mine if hold.start < second < (hold.until or 0.0) and hold.why != "deleted")


# -- set-back ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("step", "safe"), [(-15.0, False), (-3.0, False), (-1.0, True), (0.0, True)])
def test_a_wall_clock_that_is_set_back_by_more_than_is_over_makes_a_lease(step: float, safe: bool) -> None:
    """A needs 12 s for a lease of 10."""
    assert holds(play("set-back", step=step)) is safe


@pytest.mark.parametrize("node", ["n1", "n3", "n5"])
def test_a_monotonic_clock_that_is_read_last_is_not_deceived(node: str) -> None:
    timeline = play("set-back", lock="redlock", node=node)
    assert [belief.node for belief in timeline.belief("stock")] == ["B"]


def test_a_clock_that_is_not_read_last_grants_what_has_expired() -> None:
    timeline = play("set-back", lock="stop-at-majority", node="n3", step=0)
    (granted,) = timeline.find("ok", "A", "acquire")
    assert granted.data["deadline"] < granted.t
    assert holds(timeline, "one_believer") is False


# -- a look at the clock -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("clock", "safe"), [("CLOCK_MONOTONIC", False), ("CLOCK_BOOTTIME", True)])
def test_a_clock_that_stands_still_with_its_machine_shows_time_that_is_not_there(clock: str, safe: bool) -> None:
    assert holds(play("suspended-holder", clock=clock), "no_stale_write") is safe


def test_who_does_not_look_at_it_writes_by_either_clock() -> None:
    runs = [play("suspended-holder", clock=clock, look="no") for clock in ("CLOCK_MONOTONIC", "CLOCK_BOOTTIME")]
    assert [holds(run, "no_stale_write") for run in runs] == [False, False]


@pytest.mark.parametrize(
    ("store", "by", "safe"), [("unchecked", 4.0, False), ("unchecked", 1.0, True), ("contract", 4.0, True)]
)
def test_a_write_that_is_slow_after_the_look_is_the_stores_to_refuse(store: str, by: float, safe: bool) -> None:
    assert holds(play("slow-write", store=store, by=by), "no_lost_update") is safe


def test_the_write_left_in_time() -> None:
    (write,) = [op for op in play("slow-write").ops("write") if op.node == "A"]
    (belief,) = [belief for belief in play("slow-write").belief("stock") if belief.node == "A"]
    assert write.call < belief.valid[-1][1] < (write.ret or 0.0)


# -- copies ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("ahead", "safe"), [(15.0, False), (9.0, False), (0.0, True), (-15.0, True)])
def test_a_replica_whose_clock_is_ahead_lets_a_replicated_lock_expire(ahead: float, safe: bool) -> None:
    timeline = play("skewed-replica", ahead=ahead)
    assert holds(timeline) is safe
    assert "WAIT says that 1 of 1 replicas has it" in [event.name for event in timeline.find("note")]


@pytest.mark.parametrize(
    ("params", "safe"),
    [({}, False), ({"replica": "none"}, True), ({"lag": 0.1}, True), ({"reached": 4}, True)],
    ids=["promoted", "no replica", "up to date", "four votes"],
)
def test_a_promoted_replica_that_lags_is_a_vote_that_is_lost(params: dict[str, Any], safe: bool) -> None:
    assert holds(play("node-promoted", **params)) is safe


# -- hopeless ----------------------------------------------------------------------------------------------------------


class UnlocksNothing(Redlock):
    """As Redlock, but for what it does after a refusal."""

    def _undo(self, *args: object) -> None:
        pass


def test_a_silent_node_has_the_key_of_an_attempt_that_was_hopeless() -> None:
    assert left_of_a(play("hopeless", lock=UnlocksNothing)) == ["n3", "n4", "n5"]
    assert left_of_a(play("hopeless")) == []
