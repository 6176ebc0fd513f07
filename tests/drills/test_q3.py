"""Question 3's own stage: rounds in all orders, and what becomes of an answer that does not come back."""

from __future__ import annotations

import time
from typing import Any

import pytest

from labkit.drills.q3.bench import Desk, Round, all_orders, play
from labkit.drills.q3.claims import pending
from labkit.drills.trial import Setting
from labkit.sim import RanAway

SETTING = Setting("q3", "one claim each", "two", 7)


def counts(db: Any) -> int:
    with db:
        return int(db.execute("UPDATE task SET version = version + 1").rowcount)


def test_every_round_begins_with_a_table_of_its_own() -> None:
    rounds = [Round(lambda now: [pending(1, 5)]), Round(lambda now: [pending(2, 8)])]
    first, second = play(SETTING, rounds, {"A": lambda desk: desk.call(counts)})
    assert first["after"] == [[1, "PENDING", None, 6, None]]
    assert second["before"] == [[2, "PENDING", None, 8, None]]


def test_two_workers_of_two_statements_are_played_in_all_six_orders() -> None:
    def looks_twice(db: Any) -> None:
        for _ in range(2):
            db.execute("SELECT version FROM task").fetchall()

    def work(desk: Desk) -> None:
        desk.call(looks_twice)

    rounds = all_orders(SETTING, lambda now: [pending(1)], {"A": work, "B": work})
    found = ["".join(who for who, _, _ in this["log"]) for this in rounds]
    assert sorted(found) == ["AABB", "ABAB", "ABBA", "BAAB", "BABA", "BBAA"]


def test_the_same_setting_plays_the_same() -> None:
    def once() -> Any:
        return play(SETTING, [Round(lambda now: [pending(1)])] * 3, dict.fromkeys("ABC", lambda d: d.call(counts)))

    assert once() == once()


def test_a_call_that_does_not_come_back_in_its_round_is_told() -> None:
    def sleeps(db: Any) -> None:
        time.sleep(5000)

    with pytest.raises(RanAway, match="by A had not come back"):
        play(SETTING, [Round(lambda now: [pending(1)])] * 2, {"A": lambda d: d.call(sleeps), "B": lambda d: d.reap()})
