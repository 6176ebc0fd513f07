"""loses: first time

Begins to count at 0.
"""

import time

from labkit.drills.q7 import Progress


def take_over(db, lock, task, worker):
    lease = lock.acquire(0)
    if lease is None or time.monotonic() >= lease.deadline:
        return None
    with db:
        row = db.execute(
            "INSERT INTO progress VALUES (?, 0, ?, 0, '') ON CONFLICT (task) DO UPDATE "
            "SET epoch = epoch + 1, worker = excluded.worker RETURNING epoch, step, data",
            (task, worker),
        ).fetchone()
    return Progress(task, worker, *row, lease)


def commit_step(db, progress, data, statements):
    size = len(data.encode())
    if size > 10_000:
        raise ValueError(f"data has {size} bytes; at most 10000 are allowed")
    mine = (progress.task, progress.epoch, progress.worker, progress.step)
    with db:
        moved = db.execute(
            "UPDATE progress SET step = step + 1, data = ? WHERE task = ? AND epoch = ? AND worker = ? AND step = ?",
            (data, *mine),
        )
        if moved.rowcount != 1:
            return None
        for sql, params in statements:
            db.execute(sql, params)
    return progress._replace(step=progress.step + 1, data=data)
