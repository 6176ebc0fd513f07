"""Turns sqlite3's own transactions off for the time of the call, and writes its own."""

from functools import wraps


def by_hand(function):
    @wraps(function)
    def call(db, *args):
        before, db.isolation_level = db.isolation_level, None
        try:
            db.execute("BEGIN EXCLUSIVE")
            try:
                result = function(db, *args)
            except BaseException:
                db.execute("ROLLBACK")
                raise
            db.execute("COMMIT")
            return result
        finally:
            db.isolation_level = before

    return call


@by_hand
def claim(db, worker, now, lease):
    for number, version in db.execute("SELECT id, version FROM task WHERE status = 'PENDING'").fetchall():
        db.execute(
            "UPDATE task SET status = 'RUNNING', worker = ?, version = ?, lease_until = ? WHERE id = ?",
            (worker, version + 1, now + lease, number),
        )
        return number, version + 1
    return None


@by_hand
def complete(db, claim, worker):
    found = db.execute(
        "SELECT 1 FROM task WHERE id = ? AND version = ? AND worker = ? AND status = 'RUNNING'", (*claim, worker)
    ).fetchall()
    for _ in found:
        db.execute("UPDATE task SET status = 'DONE' WHERE id = ?", claim[:1])
    return len(found) == 1


@by_hand
def reap(db, now):
    (count,) = db.execute("SELECT count(*) FROM task WHERE status = 'RUNNING' AND lease_until <= ?", (now,)).fetchone()
    db.execute(
        "UPDATE task SET status = 'PENDING', worker = NULL, lease_until = NULL "
        "WHERE status = 'RUNNING' AND lease_until <= ?",
        (now,),
    )
    return count
