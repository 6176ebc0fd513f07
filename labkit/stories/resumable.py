"""Question seven, resumable work: a task of twenty steps, each with an effect, and a worker that does not finish it.

How far the task is stands either in the lock's own value, as the article has it, or in a row beside the effects, in a
database that the workers reach without a network of this world: a commit of theirs happens at one moment, or not.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from types import SimpleNamespace
from typing import Any
from weakref import WeakKeyDictionary

from redis.exceptions import RedisError

from ..faults import Crash, Pause
from ..locks import LeaseLost, SafeLock
from ..locks.broken.steals import StealingLock
from ..locks.resumable import TABLE, Progress, commit_step, take_over
from ..stores import Gateway
from ..story import Param, Story
from ._actors import TTL

TASK, STEPS, PACE = "task-7", 20, 1.0
_DATABASES: WeakKeyDictionary[Any, sqlite3.Connection] = WeakKeyDictionary()  # one a world


def database(me: Any) -> sqlite3.Connection:
    """The database of this world. No call of ours to it waits, so one connection serves all its clients."""
    if me.world not in _DATABASES:
        _DATABASES[me.world] = db = sqlite3.connect(":memory:")
        db.execute(TABLE)
        db.execute("CREATE TABLE effects (what TEXT)")
        db.commit()
    return _DATABASES[me.world]


# -- in the lock's value -----------------------------------------------------------------------------------------------


def by_the_lock(me: Any, p: SimpleNamespace) -> None:
    """As in the article: takes the lock or robs it, goes on from the checkpoint that it is told, if any."""
    shop = me.redis("shop")
    lock, effects = me.lock(StealingLock(me.redis(), TASK, p.ttl, poll=1.0)), me.store(Gateway(shop, "effects"))
    lease = lock.acquire(90.0)
    if lease is None:
        return
    if shop.exists("finished"):
        lock.release(lease)
        return
    first = int(lease.checkpoint.rpartition("-")[2] or 0) + 1
    me.note(f"{me.name} starts at step {first}")
    with suppress(LeaseLost):
        for step in range(first, STEPS + 1):
            time.sleep(PACE)
            effects.do(f"step-{step}")
            lease = lock.extend(lease, step / STEPS, f"step-{step}")
        shop.set("finished", "yes")
        lock.release(lease)


# -- in a row beside the effects ---------------------------------------------------------------------------------------


class Steps:
    """The task's steps: each is committed together with its effect."""

    def __init__(self, db: sqlite3.Connection, progress: Progress) -> None:
        self.db, self.progress = db, progress

    def do(self, what: str) -> bool:
        """False: the task is somebody else's by now."""
        moved = commit_step(self.db, self.progress, what, [("INSERT INTO effects VALUES (?)", (what,))])
        self.progress = moved or self.progress
        return moved is not None


def taken_over(me: Any, lock: Any) -> Progress | None:
    """An error of the lock's server is a reason to try again."""
    with suppress(RedisError):
        return take_over(database(me), lock, TASK, me.name)
    return None


def by_the_record(me: Any, p: SimpleNamespace) -> None:
    """Takes the task over when the lock is free, goes on where the record stands, and stops when it is refused."""
    lock, end = me.lock(SafeLock(me.redis(), TASK, p.ttl, poll=1.0)), time.monotonic() + 90.0
    while (progress := taken_over(me, lock)) is None:
        if time.monotonic() > end:
            return
        time.sleep(1.0)
    me.note(f"{me.name} starts at step {progress.step + 1}")
    steps, lease = me.store(Steps(database(me), progress), "effects"), progress.lease
    with suppress(LeaseLost, RedisError):
        while steps.progress.step < STEPS:
            time.sleep(PACE)
            if not steps.do(f"step-{steps.progress.step + 1}"):
                me.note(f"{me.name} stops: its epoch is over")
                break
            lease = lock.extend(lease)
        lock.release(lease)


DESIGNS = {"in-the-lock": by_the_lock, "own-record": by_the_record}


def worker(comes: Callable[[SimpleNamespace], float]) -> Callable[..., None]:
    def actor(me: Any, p: SimpleNamespace) -> None:
        time.sleep(comes(p))
        DESIGNS[p.progress](me, p)

    return actor


MISHAPS: dict[str, Callable[[SimpleNamespace], list[Any]]] = {
    "none": lambda p: [],
    "A-dies": lambda p: [Crash("A", at=p.at)],
    "A-pauses": lambda p: [Pause("A", lasting=1.5 * p.ttl, at=p.at)],
    "both-die": lambda p: [Crash("A", at=p.at), Crash("B", at=p.comes + 0.5)],
}

unfinished = Story(
    name="unfinished",
    claim="A worker has done a good part of its task. Who goes on, from where, and what is done twice?",
    params={
        "progress": Param("in-the-lock", choices=tuple(DESIGNS), unit="", label="how far it is stands"),
        "mishap": Param("none", choices=tuple(MISHAPS), unit="", label="the mishap"),
        "ttl": TTL,
        "at": Param(17.5, 0.1, 60.0, 0.1, label="it strikes at"),
        "comes": Param(17.8, 0.1, 60.0, 0.1, label="B comes at"),
        "then": Param(24.0, 0.1, 60.0, 0.1, label="C comes at"),
    },
    actors={"A": worker(lambda p: 0.0), "B": worker(lambda p: p.comes), "C": worker(lambda p: p.then)},
    faults=lambda p: MISHAPS[p.mishap](p),
    servers=("redis", "shop"),
    durable=("shop",),
    until=300.0,
)
