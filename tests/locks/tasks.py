"""The stage of the tests of resumable work: a lock in one process, and what a worker does with its task."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from labkit.locks import Lease, LeaseLost
from labkit.locks.resumable import Progress, commit_step, take_over

FAR, PAST = 1e9, 0.0  # deadlines, on any monotonic clock


class OneLock:
    """A lock in one process. deadline: of each grant.  error: raised by the next release."""

    def __init__(self, deadline: float = FAR) -> None:
        self.deadline, self.holder, self.grants = deadline, "", 0
        self.error: Exception | None = None

    def acquire(self, timeout: float | None = None) -> Lease | None:
        assert timeout == 0
        if self.holder:
            return None
        self.grants += 1
        self.holder = f"grant {self.grants}"
        return Lease("task", self.holder, None, self.deadline)

    def release(self, lease: Lease) -> None:
        if self.error:
            raise self.error
        if self.holder != lease.token:
            raise LeaseLost("expired", "task")
        self.holder = ""

    def expire(self) -> None:
        self.holder = ""


def connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path / "db", timeout=5.0, check_same_thread=False)


def taken(db: Any, lock: OneLock, worker: str = "A") -> Progress:
    progress = take_over(db, lock, "task", worker)
    assert progress is not None
    return progress


def done(db: Any, progress: Progress, what: str) -> Progress | None:
    return commit_step(db, progress, f"after {what}", [("INSERT INTO effects VALUES (?)", (what,))])


def record(db: sqlite3.Connection) -> list[Any]:
    return db.execute("SELECT * FROM progress").fetchall()


def effects(db: sqlite3.Connection) -> list[str]:
    return [what for (what,) in db.execute("SELECT what FROM effects").fetchall()]


def robbed(db: sqlite3.Connection, lock: OneLock) -> tuple[Progress, Progress]:
    """A after one step, and B, who has taken over from A."""
    late = done(db, taken(db, lock), "1")
    assert late is not None
    lock.expire()
    return late, taken(db, lock, "B")
