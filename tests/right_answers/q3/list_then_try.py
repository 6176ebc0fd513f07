"""Takes a list of the free tasks, tries one after the other, and gives up when a fresh list is empty."""


def claim(db, worker, now, lease):
    while free := [row[0] for row in db.execute("SELECT id FROM task WHERE status = 'PENDING'")]:
        for number in free:
            with db:
                row = db.execute(
                    "UPDATE task SET status = 'RUNNING', worker = ?, version = version + 1, lease_until = ? "
                    "WHERE id = ? AND status = 'PENDING' RETURNING id, version",
                    (worker, now + lease, number),
                ).fetchone()
            if row:
                return row
    return None


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
        return len(
            db.execute(
                "UPDATE task SET status = 'PENDING', worker = NULL, lease_until = NULL "
                "WHERE status = 'RUNNING' AND lease_until <= ? RETURNING id",
                (now,),
            ).fetchall()
        )
