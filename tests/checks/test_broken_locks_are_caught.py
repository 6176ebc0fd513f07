"""Each broken lock is caught by the check that it names, in the story that was made for it; a sound one is not."""

from __future__ import annotations

import sys

import pytest

from labkit.checks import CHECKS
from labkit.locks import LOCKS
from labkit.stories import play

CAUGHT = [
    ("two-step", "crash-between"),
    ("plain-del", "late-release"),
    ("plain-del", "delayed-release"),
    ("plain-del", "duplicate-release"),
    ("shared-id", "shared-id"),
    ("ghost", "lost-grant"),
    ("ghost", "lost-release"),
    ("renew-by-name", "slow-renewal"),
    ("renew-by-name", "renewal-pause"),
    ("renew-after-unlock", "slow-renewal"),
    ("renew-after-unlock", "renewal-pause"),
    ("immortal", "thread-death"),
    ("fenced-seed", "junk-counter"),
    ("incr-outside", "late-token"),
]

SOUND = {  # where it takes more than the safe lock: a watchdog, or a fencing token for the store to compare
    **dict.fromkeys(("slow-renewal", "renewal-pause", "thread-death"), "watchdog"),
    **dict.fromkeys(("junk-counter", "late-token"), "fenced"),
}


def check_of(lock: str) -> str:
    return str(sys.modules[LOCKS[lock].__module__].CAUGHT_BY)


@pytest.mark.parametrize(("lock", "story"), CAUGHT)
def test_the_flaw_is_found(lock: str, story: str) -> None:
    verdict = CHECKS[check_of(lock)](play(story, lock=lock))
    assert verdict.holds is False, verdict


@pytest.mark.parametrize(("lock", "story"), CAUGHT)
def test_the_sound_lock_is_not_blamed(lock: str, story: str) -> None:
    verdict = CHECKS[check_of(lock)](play(story, lock=SOUND.get(story, "safe")))
    assert verdict.holds is True, verdict


def test_each_broken_lock_has_its_story() -> None:
    assert {lock for lock, _ in CAUGHT} == {name for name in LOCKS if ".broken." in LOCKS[name].__module__}
