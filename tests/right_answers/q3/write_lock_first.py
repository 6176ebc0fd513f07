"""The write lock comes first, then the look, then the change; every way out ends the transaction."""


def claim(db, worker, now, lease):
    db.execute("BEGIN IMMEDIATE")
    try:
        row = db.execute("SELECT id, version FROM task WHERE status = 'PENDING' ORDER BY id LIMIT 1").fetchone()
        if row is None:
            db.rollback()
            return None
        db.execute(
            "UPDATE task SET status = 'RUNNING', worker = ?, version = ?, lease_until = ? WHERE id = ?",
            (worker, row[1] + 1, now + lease, row[0]),
        )
        db.commit()
        return row[0], row[1] + 1
    except BaseException:
        db.rollback()
        raise


def complete(db, claim, worker):
    db.execute("BEGIN IMMEDIATE")
    try:
        row = db.execute("SELECT status, version, worker FROM task WHERE id = ?", (claim[0],)).fetchone()
        if row != ("RUNNING", claim[1], worker):
            db.rollback()
            return False
        db.execute("UPDATE task SET status = 'DONE' WHERE id = ?", (claim[0],))
        db.commit()
        return True
    except BaseException:
        db.rollback()
        raise


def reap(db, now):
    db.execute("BEGIN IMMEDIATE")
    try:
        rows = db.execute("SELECT id FROM task WHERE status = 'RUNNING' AND lease_until <= ?", (now,)).fetchall()
        for (number,) in rows:
            db.execute(
                "UPDATE task SET status = 'PENDING', worker = NULL, lease_until = NULL WHERE id = ?",
                (number,),
            )
        db.commit()
        return len(rows)
    except BaseException:
        db.rollback()
        raise
