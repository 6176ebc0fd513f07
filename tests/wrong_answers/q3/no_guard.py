"""loses: one claim each

Looks for a free task, and then takes it whatever has become of it.
"""


def claim(db, worker, now, lease):
    row = db.execute("SELECT id FROM task WHERE status = 'PENDING' LIMIT 1").fetchone()
    if row is None:
        return None
    with db:
        return db.execute(
            "UPDATE task SET status = 'RUNNING', worker = ?, version = version + 1, lease_until = ? "
            "WHERE id = ? RETURNING id, version",
            (worker, now + lease, row[0]),
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
