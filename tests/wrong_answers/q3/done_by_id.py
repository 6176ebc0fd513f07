"""loses: zombie refused, repeated version

E72: the article checks nothing at completion, so the zombie's counts.
"""


def claim(db, worker, now, lease):
    with db:
        return db.execute(
            "UPDATE task SET status = 'RUNNING', worker = ?, version = version + 1, lease_until = ? "
            "WHERE id = (SELECT id FROM task WHERE status = 'PENDING' LIMIT 1) RETURNING id, version",
            (worker, now + lease),
        ).fetchone()


def complete(db, claim, worker):
    with db:
        return db.execute("UPDATE task SET status = 'DONE' WHERE id = ?", claim[:1]).rowcount == 1


def reap(db, now):
    with db:
        returned = db.execute(
            "UPDATE task SET status = 'PENDING', worker = NULL, lease_until = NULL "
            "WHERE status = 'RUNNING' AND lease_until <= ?",
            (now,),
        )
    return returned.rowcount
