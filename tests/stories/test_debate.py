"""The stories of section six: what follows from each argument of the debate, and what the reply changes."""

from __future__ import annotations

import time
from typing import Any

import pytest

from labkit import judge, play, search
from labkit.locks import Redlock
from labkit.stores import FencedRegister
from labkit.stories.debate import CARE, STRENGTHS, ClaimRegister
from labkit.timeline import Timeline

MISHAPS = [mishap for mishap in CARE if mishap not in ("none", "before-claim")]


def holds(timeline: Timeline, check: str = "no_lost_update") -> bool | None:
    return judge(timeline, check).holds


def writes(timeline: Timeline) -> dict[str, str]:
    return {op.node: op.outcome for op in timeline.ops("write")}


# -- a holder that takes care -------------------------------------------------------------------------------------


@pytest.mark.parametrize("mishap", MISHAPS)
def test_without_a_look_every_mishap_loses_an_update(mishap: str) -> None:
    assert holds(play("careful-holder", mishap=mishap, look="no")) is False


@pytest.mark.parametrize("mishap", MISHAPS)
def test_a_look_at_the_clock_helps_against_a_pause_before_it_and_nothing_else(mishap: str) -> None:
    assert holds(play("careful-holder", mishap=mishap)) is (mishap == "before-look")


@pytest.mark.parametrize("mishap", MISHAPS)
def test_the_lock_does_nothing_wrong_meanwhile(mishap: str) -> None:
    assert holds(play("careful-holder", mishap=mishap), "exclusive_grants") is True


@pytest.mark.parametrize("mishap", MISHAPS)
def test_a_claim_refuses_the_late_write_and_keeps_the_holders(mishap: str) -> None:
    timeline = play("careful-holder", mishap=mishap, store="claim", look="no")
    assert writes(timeline) == {"A": "fail", "B": "ok"}
    assert holds(timeline) is True


def test_a_late_claim_pushes_the_rightful_holder_out_and_loses_no_update() -> None:
    timeline = play("careful-holder", mishap="before-claim", store="claim", look="no")
    assert writes(timeline) == {"A": "ok", "B": "fail"}
    assert holds(timeline) is True
    assert holds(timeline, "no_stale_write") is False


def test_who_claims_late_and_then_looks_at_its_clock_leaves_nobody_to_write() -> None:
    assert writes(play("careful-holder", mishap="before-claim", store="claim")) == {"B": "fail"}


def test_an_order_of_grants_refuses_the_late_claim() -> None:
    assert writes(play("late-token", store=ClaimRegister)) == {"A": "ok", "B": "fail"}
    assert writes(play("late-token", store=FencedRegister)) == {"B": "ok"}


@pytest.mark.parametrize("ahead", [0, 2])
def test_a_claim_has_no_count_that_a_service_could_lose(ahead: int) -> None:
    timeline = play("repeated-token", store=ClaimRegister, ahead=ahead)
    assert holds(timeline) is True
    assert holds(timeline, "no_stale_write") is True


# -- while the answers are under way ------------------------------------------------------------------------------


class Trusting(Redlock):
    """Redlock without the second look at the clock."""

    def _judged(self, what: str, nodes: Any, start: float, token: str | None = None) -> Any:
        return super()._judged(what, nodes, time.monotonic(), token)


@pytest.mark.parametrize("lock", ["redlock", "redlock-seed"])
@pytest.mark.parametrize("what", ["pause", "network"])
def test_answers_that_come_when_the_keys_have_expired_are_worth_nothing(lock: str, what: str) -> None:
    timeline = play("in-flight", lock=lock, what=what, budget=9.8)
    assert min(timeline.belief("stock"), key=lambda belief: belief.start).node == "B"
    assert holds(timeline, "exclusive_grants") is True


def test_answers_that_come_just_in_time_are_worth_what_is_left() -> None:
    timeline = play("in-flight", what="network", by=9.5, budget=9.8)
    told = timeline.find("ok", "A", "acquire")[0]
    assert told.t == pytest.approx(9.502)
    assert told.data["deadline"] - told.t == pytest.approx(0.397)


def test_without_the_second_look_two_leases_are_valid() -> None:
    assert holds(play("in-flight", lock=Trusting), "exclusive_grants") is False


def test_no_pause_anywhere_makes_redlock_grant_twice() -> None:
    one_pause: dict[str, Any] = {"faults": ("pause",), "most": 1, "by": 0.0}
    assert search("in-flight", "exclusive_grants", **one_pause).outcome.name == "EXHAUSTED"
    assert search("in-flight", "exclusive_grants", lock=Trusting, **one_pause).outcome.name == "BROKEN"


# -- a number for Redlock -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("counters", "last"), [("one", 1), ("five", 3)])
def test_the_newest_holder_has_a_lower_number_than_the_one_before(counters: str, last: int) -> None:
    timeline = play("five-counters", counters=counters)
    granted = [(event.node, event.data["fence"]) for event in timeline.find("ok") if event.name == "acquire"]
    assert granted == [*(("A", number) for number in (1, 2, 3, 4)), ("B", last)]
    assert [(op.node, op.outcome) for op in timeline.ops("register")] == [("A", "ok"), ("B", "fail")]
    assert holds(timeline, "exclusive_grants") is True


# -- a store that checks, and a lock of any strength --------------------------------------------------------------


@pytest.mark.parametrize("strength", STRENGTHS)
@pytest.mark.parametrize("mishap", ["none", "forgets"])
def test_a_weak_lock_costs_attempts_and_no_update(strength: str, mishap: str) -> None:
    timeline = play("crowd", strength=strength, mishap=mishap)
    outcomes = [op.outcome for op in timeline.ops("write")]
    assert outcomes.count("ok") == 4
    assert outcomes.count("fail") >= (strength == "none") + ((strength, mishap) == ("one", "forgets"))
    assert holds(timeline) is True


def test_who_finds_the_server_away_comes_again() -> None:
    """With this seed B asks n1 while it is down."""
    timeline = play("crowd", strength="one", mishap="forgets", seed=44)
    assert [event.node for event in timeline.find("note") if "gives up" in event.name] == ["B"]
    assert sorted(op.node for op in timeline.ops("write") if op.outcome == "ok") == ["A", "B", "C", "D"]


def test_a_lock_that_keeps_its_word_spares_all_attempts() -> None:
    for strength, mishap in (("one", "none"), ("five", "none"), ("five", "forgets")):
        assert all(op.outcome == "ok" for op in play("crowd", strength=strength, mishap=mishap).ops("write"))


# -- bounds -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["pause", "delay", "step"])
def test_whichever_bound_is_dropped_an_update_is_lost(kind: str) -> None:
    assert search("timing", "no_lost_update", faults=(kind,), most=1, ttl=60.0).outcome.name == "BROKEN"


def test_while_all_bounds_are_kept_no_single_mishap_loses_an_update() -> None:
    kept = search("timing", "no_lost_update", faults=("pause", "delay", "step"), most=1, menu=1)
    assert kept.outcome.name == "EXHAUSTED"


def test_two_mishaps_within_the_bounds_are_covered_by_a_long_lease() -> None:
    """A's fifth command is its write. It stands still, and the write is late; or a clock jumps too; or twice."""
    for tape in ("pause.A.5=2,delay.A.5=1", "step.B.1=1,pause.A.5=2", "pause.A.4=2,pause.A.5=2"):
        timeline = play("timing", tape=tape, margin=0.0)
        assert holds(timeline) is True
        assert (timeline.ops("write")[0].ret or 0.0) > 16.0


def test_a_lease_that_is_longer_than_a_pause_still_needs_a_margin() -> None:
    """A stands still before its read, which its look at the clock shows, and again after the look."""
    twice: dict[str, Any] = {"tape": "pause.A.4=2,pause.A.5=2", "lease": 30.0}
    assert holds(play("timing", margin=0.0, **twice)) is False
    assert holds(play("timing", margin=15.0, **twice)) is True


@pytest.mark.parametrize(("margin", "kept"), [(0.0, False), (15.0, False), (22.0, False), (26.0, True)])
def test_the_margin_covers_the_sum_of_what_may_come_after_the_look(margin: float, kept: bool) -> None:
    """After it, A stands still for 14.5 s, and its write is on its way for 10.5 s."""
    timeline = play("timing", tape="pause.A.4=2,pause.A.5=2,delay.A.5=1", lease=40.0, margin=margin)
    assert holds(timeline) is kept
