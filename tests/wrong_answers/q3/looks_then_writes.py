"""loses: zombie refused

Looks whether the claim still holds, and then writes by the id alone.
"""


def claim(db, worker, now, lease):
    with db:
        return db.execute(
            "UPDATE task SET status = 'RUNNING', worker = ?, version = version + 1, lease_until = ? "
            "WHERE id = (SELECT id FROM task WHERE status = 'PENDING' LIMIT 1) RETURNING id, version",
            (worker, now + lease),
        ).fetchone()


def complete(db, claim, worker):
    row = db.execute("SELECT version, worker, status FROM task WHERE id = ?", (claim[0],)).fetchone()
    if row != (claim[1], worker, "RUNNING"):
        return False
    with db:
        db.execute("UPDATE task SET status = 'DONE' WHERE id = ?", (claim[0],))
    return True


def reap(db, now):
    with db:
        returned = db.execute(
            "UPDATE task SET status = 'PENDING', worker = NULL, lease_until = NULL "
            "WHERE status = 'RUNNING' AND lease_until <= ?",
            (now,),
        )
    return returned.rowcount
