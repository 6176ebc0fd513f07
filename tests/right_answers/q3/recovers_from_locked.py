"""Reads first and writes later in one transaction, and begins anew when the database is locked."""

import random
import sqlite3
import time


def claim(db, worker, now, lease):
    while True:
        try:
            db.execute("BEGIN")
            row = db.execute("SELECT id, version FROM task WHERE status = 'PENDING' LIMIT 1").fetchone()
            if row:
                db.execute(
                    "UPDATE task SET status = 'RUNNING', worker = ?, version = version + 1, lease_until = ? "
                    "WHERE id = ?",
                    (worker, now + lease, row[0]),
                )
            db.commit()
            return (row[0], row[1] + 1) if row else None
        except sqlite3.OperationalError:
            db.rollback()
            time.sleep(random.uniform(0.001, 0.02))
        except BaseException:
            db.rollback()
            raise


def complete(db, claim, worker):
    number, version = claim
    with db:
        done = db.execute(
            "UPDATE task SET status = 'DONE' WHERE id = ? AND version = ? AND worker = ? AND status = 'RUNNING'",
            (number, version, worker),
        )
    return done.rowcount == 1


def reap(db, now):
    with db:
        returned = db.execute(
            "UPDATE task SET status = 'PENDING', worker = NULL, lease_until = NULL "
            "WHERE status = 'RUNNING' AND lease_until <= ?",
            (now,),
        )
    return returned.rowcount
