"""The stories of section five: what a majority survives and what it does not, and the same mishaps on other set-ups."""

from __future__ import annotations

from typing import Any

import pytest

from labkit import judge, play
from labkit.locks import QUORUM_LOCKS, Redlock
from labkit.stories import STORIES
from labkit.timeline import Timeline

FIVE = ("n1", "n2", "n3", "n4", "n5")
REQUESTS = ("lost", "done", "late", "cut")


def holds(timeline: Timeline, check: str = "exclusive_grants") -> bool | None:
    return judge(timeline, check).holds


def granted(timeline: Timeline) -> list[str]:
    return [belief.node for belief in timeline.belief("stock")]


def still_there(timeline: Timeline, second: float = 2.0) -> list[str]:
    """The nodes that have a key of A at this moment."""
    return sorted(
        hold.server for hold in timeline.truth("stock") if hold.owner == "A" and hold.start < second < hold.end
    )


# -- a majority, and what it is worth -----------------------------------------------------------------------------


@pytest.mark.parametrize(("down", "who"), [(0, "AB"), (1, "AB"), (2, "AB"), (3, "A"), (5, "A")])
def test_two_of_five_may_die(down: int, who: str) -> None:
    assert granted(play("five-nodes", down=down)) == list(who)


@pytest.mark.parametrize("reached", [3, 4, 5])
@pytest.mark.parametrize("forget", range(5))
def test_each_vote_above_three_is_one_loss_that_is_survived(reached: int, forget: int) -> None:
    timeline = play("node-forgets", reached=reached, forget=forget)
    assert holds(timeline) is (forget <= reached - 3)


def test_a_client_that_reaches_a_minority_gets_nothing() -> None:
    assert granted(play("node-forgets", reached=2, forget=0)) == ["B"]


def test_who_stops_at_three_votes_survives_no_loss() -> None:
    assert holds(play("node-forgets", lock="stop-at-majority")) is False
    assert holds(play("node-forgets", lock="stop-at-majority", forget=0)) is True


@pytest.mark.parametrize("remedy", [{"data": "kept"}, {"down": 10.5}], ids=["its data are kept", "delayed restart"])
def test_a_bare_majority_survives_a_restart_with_a_remedy(remedy: dict[str, Any]) -> None:
    assert holds(play("node-forgets", reached=3, **remedy)) is True


@pytest.mark.parametrize(("reached", "jump", "expected"), [(3, 1, False), (5, 1, True), (5, 2, True), (5, 3, False)])
def test_a_clock_that_jumps_is_a_vote_that_is_lost(reached: int, jump: int, expected: bool) -> None:
    assert holds(play("node-clock", reached=reached, jump=jump)) is expected


@pytest.mark.parametrize(("down", "expected"), [(0.2, False), (3.0, False), (8.0, False), (10.5, True)])
def test_a_node_that_forgets_must_stay_away_for_as_long_as_a_holder_may_work(down: float, expected: bool) -> None:
    assert holds(play("node-forgets", reached=3, work=9.5, down=down)) is expected


def test_a_clock_that_is_set_back_does_no_harm_to_exclusion() -> None:
    assert holds(play("node-clock", reached=3, step=-15)) is True


# -- an acquisition that takes long, or hears nothing -------------------------------------------------------------

BY_THE_WALL_CLOCK: dict[str, Any] = {"by": 12.0, "step": -15.0, "at": 10.5}
WITHOUT_DRIFT: dict[str, Any] = {"by": 9.99, "step": 0.0, "rate": 1.01, "at": 9.95}


@pytest.mark.parametrize("schedule", [BY_THE_WALL_CLOCK, WITHOUT_DRIFT])
def test_a_slow_acquisition_is_granted_by_the_article_and_not_waited_for_by_the_sound_lock(schedule: Any) -> None:
    assert holds(play("slow-node", lock="redlock-seed", **schedule)) is False
    sound = play("slow-node", lock="redlock", **schedule)
    assert holds(sound) is not False
    assert sound.belief("stock")[0].start < 0.3


def test_a_lease_that_is_over_is_granted_if_the_clock_is_not_read_last() -> None:
    run = play("slow-node", lock="stop-at-majority", node="n3", by=11.0, step=0.0, at=11.5)
    told = run.find("ok", "A", "acquire")[0]
    assert told.t > told.data["deadline"]
    assert holds(run, "one_believer") is False


def test_rates_that_differ_by_more_than_the_drift_break_even_five_votes() -> None:
    fast: dict[str, Any] = {"by": 0.0, "step": 0.0, "work": 9.5, "at": 9.2}
    assert holds(play("slow-node", lock="redlock", rate=1.1, **fast)) is False
    assert holds(play("slow-node", lock="redlock", rate=1.01, **fast)) is True


@pytest.mark.parametrize(
    ("lock", "left"),  # if the request is lost, done, late, or cannot be sent
    [
        ("redlock", ([], [], [], [])),
        ("redlock-seed", ([], [], ["n2", "n3", "n4"], ["n5"])),  # over another connection; at the first that is cut off
        ("stop-at-majority", (["n1"], ["n1", "n2"], ["n1", "n2"], ["n1"])),
    ],
)
def test_what_a_refused_attempt_leaves_behind(lock: str, left: tuple[list[str], ...]) -> None:
    runs = [play("silent-nodes", lock=lock, silent=3, request=request) for request in REQUESTS]
    assert tuple(map(still_there, runs)) == left


def test_silence_says_nothing_of_what_was_done() -> None:
    runs = [play("silent-nodes", silent=3, request=request) for request in REQUESTS]
    assert {run.ops("acquire")[0].outcome for run in runs} == {"fail"}
    got = [{hold.server for hold in run.truth("stock") if hold.owner == "A"} & {"n2", "n3", "n4"} for run in runs]
    assert list(map(len, got)) == [0, 3, 3, 0]


@pytest.mark.parametrize("lock", QUORUM_LOCKS)
def test_a_late_unlock_harms_only_who_uses_one_value(lock: str) -> None:
    assert holds(play("late-unlock", lock=lock)) is (lock != "one-value")


# -- a holder that stands still -----------------------------------------------------------------------------------


def test_five_nodes_do_not_stop_a_late_write() -> None:
    run = play("quorum-pause")
    assert (holds(run), holds(run, "no_stale_write"), holds(run, "no_lost_update")) == (True, False, False)


def test_a_pause_during_the_acquisition_is_noticed() -> None:
    assert granted(play("quorum-pause", at=0.3)) == ["B"]


# -- other set-ups ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("at", "to", "kept"), [(0.05, "r1", False), (1.1, "r1", True), (1.1, "r2", False)])
def test_a_grant_outlives_its_primary_where_it_has_arrived(at: float, to: str, kept: bool) -> None:
    assert holds(play("failover", at=at, to=to, lag=0.9)) is kept


def test_a_lock_that_its_server_forgot_is_not_said_to_have_run_out() -> None:
    refusal = play("failover").find("fail", "A", "release")[0].data["reason"]
    assert refusal.startswith("LeaseLost: The lease on 'stock' is not on the server any more")


FATES = {  # on one server, on a pair, on five votes, on a bare three
    "dies": ("stuck", "two leases", "safe", "safe"),
    "three-die": ("stuck", "two leases", "stuck", "stuck"),
    "forgets": ("two leases", "two leases", "safe", "two leases"),
    "three-forget": ("two leases",) * 4,
    "evicts": ("two leases", "two leases", "safe", "two leases"),
    "clock-jumps": ("two leases", "two leases", "safe", "two leases"),
    "all-clocks-jump": ("two leases",) * 4,
    "holder-pauses": ("two believe",) * 4,
}


def fate(**params: Any) -> str:
    run = play("topology", **params)
    if holds(run) is False:
        return "two leases"
    if holds(run, "one_believer") is False:
        return "two believe"
    return "safe" if "B" in granted(run) else "stuck"


@pytest.mark.parametrize("mishap", STORIES["topology"].params["mishap"].choices)
def test_what_each_set_up_buys(mishap: str) -> None:
    assert tuple(fate(mishap=mishap, on=on) for on in STORIES["topology"].params["on"].choices) == FATES[mishap]


# -- what all of them have in common ------------------------------------------------------------------------------

QUORUM_STORIES = [name for name, story in STORIES.items() if set(FIVE) <= set(story.servers) and "lock" in story.params]


@pytest.mark.parametrize("name", QUORUM_STORIES)
def test_without_its_fault_a_story_breaks_nothing(name: str) -> None:
    timeline = play(STORIES[name].but(faults=lambda p: []), lock="redlock")
    assert [verdict.claim for verdict in judge(timeline).broken] == []


@pytest.mark.parametrize("seed", range(1, 6))
@pytest.mark.parametrize("name", ["five-nodes", "node-forgets", "node-clock", "silent-nodes", "late-unlock"])
def test_the_sound_lock_is_not_blamed_when_latencies_wander(name: str, seed: int) -> None:
    verdict = judge(play(name, lock="redlock", seed=seed), "exclusive_grants", "own_release", "not_stuck")
    assert [broken.why for broken in verdict.broken] == []


def test_a_lock_of_ones_own_may_be_played() -> None:
    class Mine(Redlock):
        """A reader's own."""

    assert granted(play("five-nodes", lock=Mine)) == ["A", "B"]
