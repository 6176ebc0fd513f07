"""Takes the write lock by a write that changes nothing; the rest is looking and writing."""


def claim(db, worker, now, lease):
    try:
        db.execute("DELETE FROM task WHERE 0")
        found = db.execute("SELECT max(id) FROM task WHERE status = 'PENDING'").fetchone()[0]
        if found is None:
            return None
        values = (worker, now + lease, found)
        db.execute(
            "UPDATE task SET status = 'RUNNING', worker = ?, lease_until = ?, version = version + 1 WHERE id = ?",
            values,
        )
        version = db.execute("SELECT version FROM task WHERE id = ?", (found,)).fetchone()[0]
        db.commit()
        return found, version
    finally:
        db.rollback()


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
