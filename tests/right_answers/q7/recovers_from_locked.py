"""Reads first and writes later in one transaction; begins anew when the database is locked. Its class may change."""

import sqlite3
import time


class Progress:
    def __init__(self, task, worker, epoch, step, data, lease):
        self.task, self.worker, self.lease = task, worker, lease
        self.epoch, self.step, self.data = epoch, step, data


def again_and_again(db, work):
    pause = 0.001
    while True:
        try:
            db.execute("BEGIN")
            result = work()
            db.commit()
            return result
        except sqlite3.OperationalError as error:
            db.rollback()
            if "locked" not in str(error):
                raise
            time.sleep(pause)
            pause = min(2 * pause, 0.05)
        except BaseException:
            db.rollback()
            raise


def take_over(db, lock, task, worker):
    lease = lock.acquire(0)
    if lease is None or lease.deadline < time.monotonic():
        return None

    def work():
        cursor = db.cursor()
        row = cursor.execute("SELECT epoch, step, data FROM progress WHERE task = ?", [task]).fetchone()
        if row is None:
            cursor.execute(
                "INSERT INTO progress (task, epoch, worker, step, data) VALUES (?, 1, ?, 0, '')", [task, worker]
            )
            return Progress(task, worker, 1, 0, "", lease)
        cursor.execute("UPDATE progress SET epoch = ?, worker = ? WHERE task = ?", [row[0] + 1, worker, task])
        return Progress(task, worker, row[0] + 1, row[1], row[2], lease)

    return again_and_again(db, work)


def commit_step(db, progress, data, statements):
    if len(data.encode("utf8")) > 10_000:
        raise ValueError("too much data: {} bytes, at most {}".format(len(data.encode("utf8")), 10_000))

    def work():
        row = db.execute("SELECT epoch, worker, step FROM progress WHERE task = ?", [progress.task]).fetchone()
        if row is None or row[0] != progress.epoch or row[1] != progress.worker or row[2] != progress.step:
            return False
        for sql, params in statements:
            db.execute(sql, params)
        db.execute("UPDATE progress SET step = ?, data = ? WHERE task = ?", [progress.step + 1, data, progress.task])
        return True

    if not again_and_again(db, work):
        return None
    return Progress(progress.task, progress.worker, progress.epoch, progress.step + 1, data, progress.lease)
