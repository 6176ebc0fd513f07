"""loses: claim recorded, every task found

The UPDATE has no LIMIT: it takes every task that is free, and tells of one.
"""


def claim(db, worker, now, lease):
    with db:
        return db.execute(
            "UPDATE task SET status = 'RUNNING', worker = ?, version = version + 1, lease_until = ? "
            "WHERE status = 'PENDING' RETURNING id, version",
            (worker, now + lease),
        ).fetchone()


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
