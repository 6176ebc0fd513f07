"""What the stories of renewal show, event by event where the article's own example is told."""

from __future__ import annotations

from typing import Any

import pytest

from labkit import checks, play
from labkit.locks import LOCKS
from labkit.stories import STORIES
from labkit.stories.renewal import PROFILES
from labkit.timeline import Timeline

RENEWING = ["watchdog", "immortal"]  # immortal errs only where a thread dies
OURS = ["renewal", "renewal-pause", "slow-renewal", "thread-death", "hung-server", "flushed-key", "policies"]


def told(timeline: Timeline) -> list[tuple[float, str]]:
    return [(round(e.t, 1), e.data["reason"]) for e in timeline.find("lost", "A")]


def survived(timeline: Timeline) -> bool:
    return not timeline.find("lost", "A") and bool(timeline.ops("write"))


@pytest.mark.parametrize("n", [2, 3, 4, 5])
@pytest.mark.parametrize("k", [0, 1, 2, 3, 4])
def test_n_minus_one_attempts_come_before_the_end_and_one_has_to_succeed(n: int, k: int) -> None:
    assert survived(play("renewal", n=n, k=k)) == (k <= n - 2)


def test_it_does_not_matter_which_renewals_fail_only_how_many_in_a_row() -> None:
    assert [survived(play("renewal", k=2, first=first)) for first in (1, 2, 4)] == [False, False, False]
    assert [survived(play("renewal", k=1, first=first)) for first in (1, 2, 4)] == [True, True, True]


def test_a_first_error_is_the_end_of_it() -> None:
    assert not survived(play("renewal", k=1, policy="first-error"))


def test_the_articles_pause_made_exact() -> None:
    """Granted at 0, renewed at 10, paused just before the renewal at 20; it ends at 40, B has it; A learns it at 55."""
    timeline = play("renewal-pause")
    (a, b) = timeline.belief("stock")
    renewals = [round(op.call) for op in timeline.ops("extend") if op.grant == a.grant]
    expiry = [round(e.t) for e in timeline.find("expire", name="stock")]
    refused = [round(e.t) for e in timeline.find("fail", "A", "extend")]
    assert (renewals[:2], expiry, round(b.start), told(timeline), refused) == (
        [10, 20],
        [40],
        40,
        [(55.0, "expired")],
        [55],
    )


@pytest.mark.parametrize("lock", ["watchdog", "safe"])
def test_renewal_does_not_help_a_holder_that_stands_still(lock: str) -> None:
    assert checks.judge(play("renewal-pause", lock=lock), "one_believer").holds is False


def test_a_holder_that_listens_writes_nothing_late() -> None:
    assert checks.judge(play("renewal-pause"), "no_stale_write").holds is True
    assert checks.judge(play("renewal-pause", lock="safe"), "no_stale_write").holds is False


def test_a_dead_threads_lock_is_free_within_a_ttl_and_an_immortal_one_is_not() -> None:
    (free,) = play("thread-death").find("expire", name="stock")
    assert free.t <= 5 + 30
    immortal = play("thread-death", lock="immortal")
    assert [e for e in immortal.find("expire", name="stock") if e.t < 100] == []
    assert checks.judge(immortal, "not_stuck").holds is False


@pytest.mark.parametrize("story", ["hung-server", "flushed-key", "renewal-pause"])
def test_the_owner_is_told_in_time(story: str) -> None:
    timeline = play(story)
    assert len(told(timeline)) == 1
    assert checks.judge(timeline, "told").holds is True


PROFILE_ENDS = {"python-redis-lock": False, "redisson-3.43": False, "redisson-3.44": False, "deadline": True}


@pytest.mark.parametrize("profile", PROFILES)
def test_what_each_way_of_renewing_makes_of_the_same_outage(profile: str) -> None:
    """The server is back two seconds before the lease ends; who still asks then keeps the lock."""
    assert survived(play("policies", profile=profile)) == PROFILE_ENDS[profile]


def test_redissons_only_attempt_ends_at_26_and_a_half_seconds() -> None:
    (op,) = play("policies", profile="redisson-3.43").ops("extend")
    assert (round(op.call, 1), round(op.ret or 0, 1)) == (10.0, 26.5)


def test_redisson_4_may_or_may_not_survive_it() -> None:
    """Its fifth send leaves between 26 and 30 s, as its pauses are drawn."""
    ends = {survived(play("policies", profile="redisson-3.44", seed=seed)) for seed in range(12)}
    assert ends == {True, False}


@pytest.mark.parametrize("story", OURS)
@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_the_watchdog_is_blamed_for_nothing_but_what_no_lock_can_do(story: str, seed: int) -> None:
    timeline = play(story, seed=seed)
    broken = {name for name, check in checks.CHECKS.items() if check(timeline).holds is False}
    stands_still = {"renewal-pause": {"one_believer"}, "flushed-key": {"one_believer", "exclusive_grants"}}
    assert broken == stands_still.get(story, set()), timeline.token


@pytest.mark.parametrize(
    "story", [n for n, s in STORIES.items() if "lock" in s.params and "safe" in s.params["lock"].choices]
)
@pytest.mark.parametrize("lock", [name for name, kind in LOCKS.items() if ".broken." not in kind.__module__])
def test_no_sound_lock_touches_anothers_in_any_story(story: str, lock: str) -> None:
    timeline = play(story, lock=lock)
    verdicts: dict[str, Any] = {
        name: checks.CHECKS[name](timeline) for name in ("own_renewal", "own_release", "honest")
    }
    assert [verdict for verdict in verdicts.values() if verdict.holds is False] == []
