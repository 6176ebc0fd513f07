"""loses: dead worker's task returns

Counts first and reaps later: two reapers count the same tasks.
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
            "UPDATE task SET status = 'DONE' WHERE id = ? AND version = ? AND worker = ? AND status = 'RUNNING'",
            (number, version, worker),
        )
    return done.rowcount == 1


def reap(db, now):
    (count,) = db.execute("SELECT count(*) FROM task WHERE status = 'RUNNING' AND lease_until <= ?", (now,)).fetchone()
    with db:
        db.execute(
            "UPDATE task SET status = 'PENDING', worker = NULL, lease_until = NULL "
            "WHERE status = 'RUNNING' AND lease_until <= ?",
            (now,),
        )
    return count
