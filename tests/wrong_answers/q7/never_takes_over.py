"""loses: new epoch, first time, resume point

There is always somebody who holds the lock.
"""


def take_over(db, lock, task, worker):
    lock.acquire(0)
    return


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
