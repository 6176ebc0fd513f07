"""loses: every task found

The article's claim: who loses the race for a task goes home.
"""


def claim(db, worker, now, lease):
    row = db.execute("SELECT id, version FROM task WHERE status = 'PENDING' LIMIT 1").fetchone()
    if row is None:
        return None
    number, version = row
    with db:
        taken = db.execute(
            "UPDATE task SET status = 'RUNNING', worker = ?, version = version + 1, lease_until = ? "
            "WHERE id = ? AND version = ? AND status = 'PENDING'",
            (worker, now + lease, number, version),
        )
    return (number, version + 1) if taken.rowcount else None


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
