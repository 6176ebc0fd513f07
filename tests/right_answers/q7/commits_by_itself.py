"""Takes transactions into its own hands; gives the lock back where the grant came too late or the database fails."""

import contextlib
import time

from labkit.drills.q7 import Progress


@contextlib.contextmanager
def by_hand(db):
    level, db.isolation_level = db.isolation_level, None
    try:
        db.execute("BEGIN IMMEDIATE")
        yield db
        if db.in_transaction:
            db.execute("COMMIT")
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")
        db.isolation_level = level


def given_back(lock, lease):
    with contextlib.suppress(Exception):
        lock.release(lease)


def take_over(db, lock, task, worker):
    lease = lock.acquire(0)
    if lease is None:
        return None
    if lease.deadline <= time.monotonic():
        given_back(lock, lease)
        return None
    try:
        with by_hand(db):
            found = db.execute("SELECT epoch, step, data FROM progress WHERE task = ?", (task,)).fetchall()
            epoch, step, data = found[0] if found else (0, 0, "")
            db.execute("INSERT OR REPLACE INTO progress VALUES (?, ?, ?, ?, ?)", (task, epoch + 1, worker, step, data))
    except BaseException:
        given_back(lock, lease)
        raise
    return Progress(task, worker, epoch + 1, step, data, lease)


def commit_step(db, progress, data, statements):
    size, limit = len(data.encode()), 10_000
    if size > limit:
        raise ValueError(f"{size} > {limit}")
    with by_hand(db):
        mine = "SELECT 1 FROM progress WHERE task = ? AND epoch = ? AND worker = ? AND step = ?"
        if not db.execute(mine, (progress.task, progress.epoch, progress.worker, progress.step)).fetchall():
            return None
        for sql, params in statements:
            db.execute(sql, params)
        db.execute("UPDATE progress SET step = step + 1, data = ? WHERE task = ?", (data, progress.task))
    return progress._replace(step=progress.step + 1, data=data)
