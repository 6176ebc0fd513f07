"""Question 7's own stage: whose Progress is handed over, what a death leaves, and how a message's numbers are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from labkit.drills.q7 import Progress
from labkit.drills.q7.bench import Desk, Round, play
from labkit.drills.q7.commits import made, numbers
from labkit.drills.trial import Setting
from labkit.sim import World

SETTING = Setting("q7", "one transaction", "dies", 7)
ROW = ("report", 3, "A", 4, "page 4")


@dataclass
class Mine:
    task: str
    worker: str
    epoch: int
    step: int
    data: str
    lease: Any


def test_an_answer_is_handed_its_own_class() -> None:
    def commit_step(db: Any, progress: Any, data: str, statements: Any) -> Any: ...

    commit_step.__annotations__["progress"] = Mine
    assert isinstance(made(commit_step, ROW), Mine)


def test_an_answer_without_such_a_class_is_handed_the_one_that_is_given() -> None:
    knows_no_class: Any = len
    assert isinstance(made(knows_no_class, ROW), Progress)
    assert made(knows_no_class, ROW)[:5] == ("report", "A", 3, 4, "page 4")


def test_a_worker_that_dies_leaves_the_tables_as_they_were() -> None:
    def dies(world: World, statement: Any) -> None:
        if statement.nth == 2:
            world.crash("A")

    def halves(db: Any) -> None:
        db.execute("UPDATE progress SET step = 99")
        db.commit()

    work = {"A": lambda desk: desk.call(halves)}
    (this,) = play(SETTING, [Round((ROW,))], work, "report", strike=dies)
    assert this["calls"] == []
    assert this["after"] == this["before"]


def test_a_lock_that_forgets_is_granted_twice() -> None:
    granted: list[Any] = []

    def acquires(desk: Desk) -> None:
        desk.lock.forgets = True
        granted.append(desk.lock.acquire(0))

    play(SETTING, [Round((ROW,))], {"A": acquires, "B": acquires}, "report")
    assert len({lease.token for lease in granted}) == 2


@pytest.mark.parametrize("text", ["10001 of 10000", "10,001 > 10,000", "10_001, limit 10_000", "10 001 bytes, 10 000"])
def test_numbers_are_read_however_they_are_written(text: str) -> None:
    assert {10_001, 10_000} <= numbers(text)


def test_the_same_setting_plays_the_same() -> None:
    def looks(db: Any) -> Any:
        return db.execute("SELECT count(*) FROM progress").fetchone()

    def once() -> Any:
        return play(SETTING, [Round((ROW,))] * 3, dict.fromkeys("AB", lambda desk: desk.call(looks)), "report")

    assert once() == once()
