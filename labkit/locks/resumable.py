"""Resumable work: whoever takes a task over goes on where the last one has committed, and redoes nothing that is done.

Two records, and only the short one expires. The lock says who may try, and its value never changes. The row of the
table `progress` says how far the task is; it has no expiry and lives in the database of the effects. A new holder first
raises the row's epoch and then reads it, so what it reads is final: a step is committed in one transaction with its
effects, and only under the epoch that it was begun in. So the lock may fail, and then work is wasted, but nothing is
done twice or overwritten. How far a task is decides nothing: a live holder is never robbed, a dead one always resumed.

An effect outside this database is not covered: make it idempotent, by the key (task, step). The row is as durable as
its database: where a failover forgets a commit, it forgets the effects with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple, Protocol

from .lease import Lease

TABLE = """CREATE TABLE IF NOT EXISTS progress (task TEXT PRIMARY KEY, epoch INTEGER NOT NULL, worker TEXT NOT NULL,
step INTEGER NOT NULL, data TEXT NOT NULL)"""
LARGEST = 10_000  # bytes of `data`: what is needed to go on, not the work itself
FIRST = "INSERT INTO progress VALUES (?, 0, '', 0, '') ON CONFLICT (task) DO NOTHING"
NEW_EPOCH = "UPDATE progress SET epoch = epoch + 1, worker = ? WHERE task = ?"
STANDS = "SELECT epoch, step, data FROM progress WHERE task = ?"
NEXT_STEP = "UPDATE progress SET step = step + 1, data = ? WHERE task = ? AND epoch = ? AND worker = ? AND step = ?"
Statement = tuple[str, Sequence[Any]]


class TaskLock(Protocol):
    """What is asked of the task's lock: such as `SafeLock`."""

    def acquire(self, timeout: float | None = None) -> Lease | None: ...

    def release(self, lease: Lease) -> None: ...


class Progress(NamedTuple):
    """How far a task is. epoch: of whoever works on it.  step: how many steps are finished.  data: what the next step
    needs to know.  lease: of the task's lock; whoever works renews it and gives it back."""

    task: str
    worker: str
    epoch: int
    step: int
    data: str
    lease: Lease


def take_over(db: Any, lock: TaskLock, task: str, worker: str) -> Progress | None:
    """Where to go on, or None: somebody else holds the lock, or its grant came too late to rely on. Then the table is
    as it was. `db`: a connection to SQLite as `sqlite3.connect` opens it, with no transaction open, and with TABLE.
    Errors of the lock and of the database get out; after one of the database the lock has been given back. Raises
    ValueError, before the lock is asked for, for a connection that commits by itself or has a transaction open."""
    _check(db)
    lease = lock.acquire(0)
    if lease is None:
        return None
    try:
        found = _new_epoch(db, task, worker) if lease.remaining() else None
    except BaseException:
        _give_back(lock, lease)
        raise
    if found is None:
        _give_back(lock, lease)
        return None
    return Progress(task, worker, *found, lease)


def commit_step(db: Any, progress: Progress, data: str, statements: Iterable[Statement]) -> Progress | None:
    """Finishes the step after `progress`: its effects, which are `statements` (text, parameters), the step's number and
    `data` for the next one are committed together. None, and nothing has changed: the task is somebody else's by now,
    or this step is finished already. Then stop and read nothing into it; `take_over` knows where the task is.

    The lease is not looked at: who is late, but not succeeded, has done nothing wrong. If a statement raises, nothing
    stays. Raises ValueError, before the database is touched, for `data` of more than 10,000 bytes in UTF-8, and for a
    connection as `take_over` refuses it."""
    _check(db)
    if (size := len(data.encode())) > LARGEST:
        raise ValueError(f"data has {size} bytes and may have {LARGEST}: keep what the next step needs, or its key.")
    with _transaction(db) as cursor:
        cursor.execute(NEXT_STEP, (data, progress.task, progress.epoch, progress.worker, progress.step))
        if cursor.rowcount != 1:
            return None
        for text, parameters in statements:
            cursor.execute(text, parameters)
    return progress._replace(step=progress.step + 1, data=data)


# -- the small steps ---------------------------------------------------------------------------------------------------


def _new_epoch(db: Any, task: str, worker: str) -> tuple[int, int, str]:
    """Raises the epoch, then reads. The first statement writes, so that the row is ours before anything is read."""
    with _transaction(db) as cursor:
        cursor.execute(FIRST, (task,))
        cursor.execute(NEW_EPOCH, (worker, task))
        ((epoch, step, data),) = cursor.execute(STANDS, (task,)).fetchall()
        return epoch, step, data


@contextmanager
def _transaction(db: Any) -> Iterator[Any]:
    """A cursor whose work is committed at the end, or rolled back if anything is raised, also by the commit itself."""
    try:
        yield db.cursor()
        db.commit()
    except BaseException:
        db.rollback()
        raise


def _check(db: Any) -> None:
    if getattr(db, "isolation_level", "") is None or getattr(db, "autocommit", None) is True:
        raise ValueError("This connection commits each statement by itself: open one that does not (autocommit off).")
    if db.in_transaction and getattr(db, "autocommit", None) is not False:  # there, one is always open
        raise ValueError(
            "This connection has a transaction open, which would end with ours: commit it or roll it back."
        )


def _give_back(lock: TaskLock, lease: Lease) -> None:
    """What goes wrong here hides nothing: the lease ends by itself."""
    with suppress(Exception):
        lock.release(lease)
