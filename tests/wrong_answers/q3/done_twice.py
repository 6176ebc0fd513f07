"""loses: zombie refused

Does not look at the status, so what is DONE can be completed again.
"""


def claim(db, worker, now, lease):
    with db:
        return db.execute(
            "UPDATE task SET status = 'RUNNING', worker = ?, version = version + 1, lease_until = ? "
            "WHERE id = (SELECT id FROM task WHERE status = 'PENDING' LIMIT 1) RETURNING id, version",
            (worker, now + lease),
        ).fetchone()


def complete(db, claim, worker):
    number, version = claim
    with db:
        done = db.execute(
            "UPDATE task SET status = 'DONE' WHERE id = ? AND version = ? AND worker = ?",
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
