"""Looks, then changes what is still as it was seen; who was too late looks again."""


def claim(db, worker, now, lease):
    while True:
        row = db.execute("SELECT id, version FROM task WHERE status = 'PENDING' LIMIT 1").fetchone()
        if row is None:
            return None
        number, version = row
        cursor = db.execute(
            "UPDATE task SET status = 'RUNNING', worker = ?, version = version + 1, lease_until = ? "
            "WHERE id = ? AND version = ? AND status = 'PENDING'",
            (worker, now + lease, number, version),
        )
        db.commit()
        if cursor.rowcount == 1:
            return number, version + 1


def complete(db, claim, worker):
    cursor = db.execute(
        "UPDATE task SET status = 'DONE', lease_until = NULL "
        "WHERE id = ? AND version = ? AND worker = ? AND status = 'RUNNING'",
        (*claim, worker),
    )
    db.commit()
    return cursor.rowcount > 0


def reap(db, now):
    count = 0
    for number, version in db.execute(
        "SELECT id, version FROM task WHERE status = 'RUNNING' AND lease_until <= ?", (now,)
    ).fetchall():
        with db:
            count += db.execute(
                "UPDATE task SET status = 'PENDING', worker = NULL, lease_until = NULL, version = version + 1 "
                "WHERE id = ? AND version = ? AND status = 'RUNNING' AND lease_until <= ?",
                (number, version, now),
            ).rowcount
    return count
