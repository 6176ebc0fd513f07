"""A class that knows the table; the effects come before the row, and the comparison last of all."""

import sqlite3
import time
from dataclasses import dataclass

MAX_DATA_BYTES = 10_000


@dataclass
class State:
    task: str
    worker: str
    epoch: int
    step: int
    data: str
    lease: object


class Refused(Exception):
    pass


class Table:
    def __init__(self, db):
        self.db = db

    def raise_epoch(self, task, worker):
        with self.db:
            cursor = self.db.execute("UPDATE progress SET epoch = epoch + 1, worker = ? WHERE task = ?", (worker, task))
            if cursor.rowcount == 0:
                self.db.execute("INSERT INTO progress VALUES (?, 1, ?, 0, '')", (task, worker))
            return self.db.execute("SELECT epoch, step, data FROM progress WHERE task = ?", (task,)).fetchone()

    def move(self, state, data, statements):
        with self.db:
            self.db.execute("UPDATE progress SET task = task WHERE task = ?", (state.task,))
            for sql, params in statements:
                self.db.execute(sql, params)
            moved = self.db.execute(
                "UPDATE progress SET step = ?, data = ? WHERE task = ? AND epoch = ? AND worker = ? AND step = ?",
                (state.step + 1, data, state.task, state.epoch, state.worker, state.step),
            )
            if moved.rowcount != 1:
                raise Refused


def take_over(db: sqlite3.Connection, lock, task, worker):
    lease = lock.acquire(0)
    if lease is None or lease.deadline - time.monotonic() <= 0:
        return None
    epoch, step, data = Table(db).raise_epoch(task, worker)
    return State(task, worker, epoch, step, data, lease)


def commit_step(db: sqlite3.Connection, progress, data, statements):
    size = len(data.encode())
    if size > MAX_DATA_BYTES:
        raise ValueError(f"data has {size} bytes (limit {MAX_DATA_BYTES} bytes)")
    try:
        Table(db).move(progress, data, statements)
    except Refused:
        return None
    return State(progress.task, progress.worker, progress.epoch, progress.step + 1, data, progress.lease)
