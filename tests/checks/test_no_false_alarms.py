"""The safe lock in every story and on schedules that wander: nothing is called broken but what the fault does break."""

from __future__ import annotations

import pytest

from labkit.checks import CHECKS
from labkit.stories import STORIES, play

LATE = {"one_believer"}  # a holder that outlives its lease goes on believing
WRITES_LATE = {"one_believer", "no_stale_write", "no_lost_update"}
FORGETS = {"exclusive_grants", *WRITES_LATE}  # the service itself grants a lock twice
BROKEN_BY_THE_FAULT = {
    "gc-pause": WRITES_LATE,
    "partition": WRITES_LATE,
    "clock-step": {"exclusive_grants", *WRITES_LATE},  # one server cannot promise a grant beyond its own clock
    "server-restart": {"exclusive_grants", *WRITES_LATE},  # nor beyond its own memory
    "skewed-replica": {"exclusive_grants", *LATE},
    "evicted": {"exclusive_grants", *WRITES_LATE},
    "late-release": LATE,
    # without a watchdog: what is lost while its holder works
    **dict.fromkeys(("renewal", "renewal-pause", "hung-server", "policies"), WRITES_LATE),
    "flushed-key": {"exclusive_grants", *WRITES_LATE},
    "shared-id": LATE,
    "done-twice": WRITES_LATE,
    "black-hole": {"told", *WRITES_LATE},  # a renewal that fails in the background, and says nothing
    "shard-down": LATE,
    # without a fencing token: nothing for the store to compare
    **dict.fromkeys(("late-write", "late-token", "weak-store", "suspended-holder", "slow-write"), WRITES_LATE),
    "two-rows": {"one_believer", "no_stale_write"},
    "last-piece": {"once", *WRITES_LATE},
    "payment": {"once"},  # a crash between the charge and the note of it
    **dict.fromkeys(("repeated-token", "lost-counter"), FORGETS),
    "failover": {"exclusive_grants", *LATE},  # nobody writes there
}
BROKEN_BY_ITS_CODE = {  # no lock helps against a value read before it, or against two locks in two orders
    "slow-call": {"no_lost_update"},
    "crossed-locks": LATE,
}
EXPECTED = BROKEN_BY_THE_FAULT | BROKEN_BY_ITS_CODE
PLAYED = [name for name, story in STORIES.items() if "lock" in story.params and "safe" in story.params["lock"].choices]


@pytest.mark.parametrize("seed", range(9))
@pytest.mark.parametrize("story", PLAYED)
def test_the_safe_lock_is_blamed_for_nothing_else(story: str, seed: int) -> None:
    timeline = play(story, seed=seed, lock="safe")
    verdicts = {name: check(timeline) for name, check in CHECKS.items()}
    broken = {name for name, verdict in verdicts.items() if verdict.holds is False}
    assert broken == EXPECTED.get(story, set()), (timeline.token, [verdicts[name].why for name in broken])


@pytest.mark.parametrize("story", [name for name in PLAYED if name not in BROKEN_BY_ITS_CODE])
def test_without_its_fault_the_story_breaks_nothing(story: str) -> None:
    calm = STORIES[story].but(faults=lambda p: [])
    timeline = play(calm, lock="safe", **({"work": 1} if "work" in calm.params else {}))
    assert [name for name, check in CHECKS.items() if check(timeline).holds is False] == []
