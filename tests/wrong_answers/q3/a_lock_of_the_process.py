"""loses: one claim each

A lock of one Python process, made for each call, keeps nobody away.
"""

import threading


def claim(db, worker, now, lease):
    with threading.Lock():
        row = db.execute("SELECT id, version FROM task WHERE status = 'PENDING' ORDER BY id").fetchall()
        if not row:
            return None
        number, version = row[0]
        with db:
            db.execute(
                "UPDATE task SET status = 'RUNNING', worker = ?, version = ?, lease_until = ? WHERE id = ?",
                (worker, version + 1, now + lease, number),
            )
        return number, version + 1


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
