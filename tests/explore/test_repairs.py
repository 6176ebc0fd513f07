"""For each broken lock and store: the search breaks it in the story made for it, and exhausts its bounds on the repair.

The bounds are one more mishap (a pause, a crash, a lost request) than the story has of its own.
"""

from __future__ import annotations

from typing import Any

import pytest

from labkit.explore import Found, Outcome, search

REPAIRS = [  # story, check, the broken one, its repair, what else
    ("crash-between", "not_stuck", {"lock": "two-step"}, {"lock": "safe"}),
    ("late-release", "own_release", {"lock": "plain-del"}, {"lock": "safe"}),
    ("delayed-release", "own_release", {"lock": "plain-del"}, {"lock": "safe"}),
    ("duplicate-release", "own_release", {"lock": "plain-del"}, {"lock": "safe"}),
    ("shared-id", "own_release", {"lock": "shared-id"}, {"lock": "safe"}),
    ("lost-grant", "honest", {"lock": "ghost"}, {"lock": "safe"}),
    ("lost-release", "honest", {"lock": "ghost"}, {"lock": "safe"}),
    ("slow-renewal", "own_renewal", {"lock": "renew-by-name"}, {"lock": "watchdog"}),
    ("slow-renewal", "own_renewal", {"lock": "renew-after-unlock"}, {"lock": "watchdog"}),
    ("thread-death", "not_stuck", {"lock": "immortal"}, {"lock": "watchdog"}),
    ("junk-counter", "honest", {"lock": "fenced-seed"}, {"lock": "fenced"}),
    ("late-token", "no_stale_write", {"lock": "incr-outside"}, {"lock": "fenced"}),
    ("slow-node", "exclusive_grants", {"lock": "redlock-seed"}, {"lock": "redlock"}),
    ("node-forgets", "exclusive_grants", {"lock": "stop-at-majority"}, {"lock": "redlock"}),
    ("late-unlock", "exclusive_grants", {"lock": "one-value"}, {"lock": "redlock"}),
    ("own-key", "exclusive_grants", {"lock": "etcd-unchecked"}, {"lock": "etcd"}),
    ("late-write", "no_lost_update", {"store": "write-only", "think": 4.0}, {"store": "contract", "think": 4.0}),
    ("late-write", "no_lost_update", {"store": "strict", "think": 4.0}, {"store": "contract", "think": 4.0}),
    ("repeated-token", "no_lost_update", {"store": "ownerless"}, {"store": "contract"}),
    ("two-rows", "no_stale_write", {"guards": "one a row"}, {"guards": "one"}),
]
NAMES = [f"{story}-{next(iter(broken.values()))}".replace(" ", "-") for story, _, broken, _ in REPAIRS]


def found(story: str, check: str, params: dict[str, Any]) -> Found:
    return search(story, check, faults=("pause", "crash", "lose"), most=1, menu=1, **params)


@pytest.mark.parametrize(("story", "check", "broken", "repair"), REPAIRS, ids=NAMES)
def test_the_broken_one_is_broken(story: str, check: str, broken: dict[str, Any], repair: dict[str, Any]) -> None:
    assert found(story, check, broken).outcome is Outcome.BROKEN


@pytest.mark.parametrize(("story", "check", "broken", "repair"), REPAIRS, ids=NAMES)
def test_nothing_is_found_against_the_repair(
    story: str, check: str, broken: dict[str, Any], repair: dict[str, Any]
) -> None:
    said = found(story, check, repair)
    assert said.outcome is Outcome.EXHAUSTED, said
    assert said.runs > 1
