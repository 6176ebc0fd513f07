"""loses: transaction closed

Takes the write lock to look, and keeps it when it refuses.
"""

import time

from labkit.drills.q7 import Progress


def take_over(db, lock, task, worker):
    lease = lock.acquire(0)
    if lease is None or time.monotonic() >= lease.deadline:
        return None
    with db:
        row = db.execute(
            "INSERT INTO progress VALUES (?, 1, ?, 0, '') ON CONFLICT (task) DO UPDATE "
            "SET epoch = epoch + 1, worker = excluded.worker RETURNING epoch, step, data",
            (task, worker),
        ).fetchone()
    return Progress(task, worker, *row, lease)


def commit_step(db, progress, data, statements):
    size = len(data.encode())
    if size > 10_000:
        raise ValueError(f"data has {size} bytes; at most 10000 are allowed")
    mine = (progress.task, progress.epoch, progress.worker, progress.step)
    db.execute("BEGIN IMMEDIATE")
    row = db.execute("SELECT epoch, worker, step FROM progress WHERE task = ?", mine[:1]).fetchone()
    if row != mine[1:]:
        return None
    with db:
        db.execute("UPDATE progress SET step = ?, data = ? WHERE task = ?", (progress.step + 1, data, progress.task))
        for sql, params in statements:
            db.execute(sql, params)
    return progress._replace(step=progress.step + 1, data=data)
