"""Takes transactions into its own hands, and asks the statement itself what it has changed."""

from contextlib import contextmanager


@contextmanager
def by_hand(db):
    level, db.isolation_level = db.isolation_level, None
    try:
        yield
        if db.in_transaction:
            db.execute("COMMIT")
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")
        db.isolation_level = level


def register(db, resource, token, owner):
    with by_hand(db):
        rows = db.execute(
            "INSERT INTO guard VALUES (:resource, :token, :owner) ON CONFLICT (resource) DO UPDATE "
            "SET token = :token, owner = :owner WHERE token < :token OR (token, owner) = (:token, :owner) "
            "RETURNING token",
            {"resource": resource, "token": token, "owner": owner},
        ).fetchall()
        return bool(rows)


def guarded(db, resource, token, owner, statements):
    with by_hand(db):
        db.execute("BEGIN")
        rows = db.execute(
            "UPDATE guard SET token = token WHERE resource = ? AND token = ? AND owner = ? RETURNING 1",
            (resource, token, owner),
        ).fetchall()
        if not rows:
            return False
        for sql, params in statements:
            db.execute(sql, params)
        return True
