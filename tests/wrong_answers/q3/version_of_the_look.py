"""loses: claim recorded

Compares the status alone, and reckons the version from what it saw before: meanwhile another may have claimed the
task and given it back.
"""


def claim(db, worker, now, lease):
    while True:
        row = db.execute("SELECT id, version FROM task WHERE status = 'PENDING' LIMIT 1").fetchone()
        if row is None:
            return None
        with db:
            taken = db.execute(
                "UPDATE task SET status = 'RUNNING', worker = ?, version = version + 1, lease_until = ? "
                "WHERE id = ? AND status = 'PENDING'",
                (worker, now + lease, row[0]),
            )
        if taken.rowcount:
            return row[0], row[1] + 1


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
