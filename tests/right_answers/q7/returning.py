"""One statement for each comparison, and the rows that it gives back."""

import time

from labkit.drills.q7 import Progress

LIMIT = 10_000


def take_over(db, lock, task, worker):
    lease = lock.acquire(timeout=0)
    if lease is None:
        return None
    if time.monotonic() >= lease.deadline:
        return None
    with db:
        rows = db.execute(
            "INSERT INTO progress VALUES (:task, 1, :worker, 0, '') ON CONFLICT (task) DO UPDATE "
            "SET epoch = epoch + 1, worker = :worker RETURNING epoch, step, data",
            {"task": task, "worker": worker},
        ).fetchall()
    return Progress(task, worker, *rows[0], lease)


def commit_step(db, progress, data, statements):
    if (size := len(data.encode())) > LIMIT:
        raise ValueError(f"{size:,} bytes of data; the limit is {LIMIT:,}")
    with db:
        moved = db.execute(
            "UPDATE progress SET step = step + 1, data = ? WHERE (task, epoch, worker, step) = (?, ?, ?, ?) "
            "RETURNING step",
            (data, progress.task, progress.epoch, progress.worker, progress.step),
        ).fetchall()
        if not moved:
            return None
        for sql, params in statements:
            db.execute(sql, params)
    return Progress(progress.task, progress.worker, progress.epoch, moved[0][0], data, progress.lease)
