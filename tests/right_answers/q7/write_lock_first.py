"""Takes the write lock before the first look, in plain statements; ends each transaction by hand."""

import time
from typing import NamedTuple


class Progress(NamedTuple):
    task: str
    worker: str
    epoch: int
    step: int
    data: str
    lease: object


def take_over(db, lock, task, worker):
    lease = lock.acquire(0)
    if lease is None or lease.deadline <= time.monotonic():
        return None
    db.execute("BEGIN IMMEDIATE")
    try:
        row = db.execute("SELECT epoch, step, data FROM progress WHERE task = ?", (task,)).fetchone()
        if row is None:
            row = (0, 0, "")
            db.execute("INSERT INTO progress VALUES (?, 1, ?, 0, '')", (task, worker))
        else:
            db.execute("UPDATE progress SET epoch = ?, worker = ? WHERE task = ?", (row[0] + 1, worker, task))
        db.commit()
    except BaseException:
        db.rollback()
        raise
    return Progress(task, worker, row[0] + 1, row[1], row[2], lease)


def commit_step(db, progress, data, statements):
    size = len(data.encode("utf-8"))
    if size > 10_000:
        raise ValueError(f"data is {size} bytes, over the limit of 10000 bytes")
    db.execute("BEGIN IMMEDIATE")
    try:
        row = db.execute("SELECT epoch, worker, step FROM progress WHERE task = ?", (progress.task,)).fetchone()
        if row != (progress.epoch, progress.worker, progress.step):
            db.rollback()
            return None
        for sql, params in statements:
            db.execute(sql, params)
        db.execute("UPDATE progress SET step = ?, data = ? WHERE task = ?", (progress.step + 1, data, progress.task))
        db.commit()
    except BaseException:
        db.rollback()
        raise
    return progress._replace(step=progress.step + 1, data=data)
