"""loses: one claim each

Guards its first try, and after a lost race takes what it sees.
"""


def claim(db, worker, now, lease):
    guard = "AND status = 'PENDING'"
    while row := db.execute("SELECT id FROM task WHERE status = 'PENDING' ORDER BY id LIMIT 1").fetchone():
        with db:
            taken = db.execute(
                "UPDATE task SET status = 'RUNNING', worker = ?, version = version + 1, lease_until = ? "
                f"WHERE id = ? {guard} RETURNING id, version",
                (worker, now + lease, row[0]),
            ).fetchone()
        if taken:
            return taken
        guard = ""
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
        returned = db.execute(
            "UPDATE task SET status = 'PENDING', worker = NULL, lease_until = NULL "
            "WHERE status = 'RUNNING' AND lease_until <= ?",
            (now,),
        )
    return returned.rowcount
