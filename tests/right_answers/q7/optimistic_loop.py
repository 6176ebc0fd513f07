"""Looks outside of a transaction and changes only what is still as it was seen; whoever was overtaken looks again."""

import sqlite3
import time
from types import SimpleNamespace


class Progress(SimpleNamespace):
    def __init__(self, task, worker, epoch, step, data, lease):
        super().__init__(task=task, worker=worker, epoch=epoch, step=step, data=data, lease=lease)


SAME = "task = ? AND epoch = ? AND worker = ? AND step = ?"


def take_over(db, lock, task, worker):
    lease = lock.acquire(0)
    if lease is None or time.monotonic() > lease.deadline:
        return None
    while True:
        row = db.execute("SELECT epoch, worker, step, data FROM progress WHERE task = ?", (task,)).fetchone()
        try:
            with db:
                if row is None:
                    db.execute("INSERT INTO progress VALUES (?, 1, ?, 0, '')", (task, worker))
                    return Progress(task, worker, 1, 0, "", lease)
                took = db.execute(
                    f"UPDATE progress SET epoch = epoch + 1, worker = ? WHERE {SAME} AND data = ?",
                    (worker, task, *row),
                )
        except sqlite3.IntegrityError:
            continue
        if took.rowcount == 1:
            return Progress(task, worker, row[0] + 1, row[2], row[3], lease)


def commit_step(db, progress, data, statements):
    if len(data.encode()) > 10000:
        raise ValueError(f"data: {len(data.encode())} bytes, limit: 10000")
    with db:
        moved = db.execute(
            f"UPDATE progress SET step = step + 1, data = ? WHERE {SAME}",
            (data, progress.task, progress.epoch, progress.worker, progress.step),
        )
        if moved.rowcount == 0:
            return None
        for statement in statements:
            db.execute(*statement)
    return Progress(progress.task, progress.worker, progress.epoch, progress.step + 1, data, progress.lease)
