"""loses: late writer

Writes first and looks at the guard last: an error of the late one's statement gets out, where it should be told no.
"""


def register(db, resource, token, owner):
    with db:
        db.execute(
            "INSERT INTO guard VALUES (?, ?, ?) ON CONFLICT (resource) DO UPDATE "
            "SET token = excluded.token, owner = excluded.owner WHERE excluded.token > token",
            (resource, token, owner),
        )
        row = db.execute("SELECT token, owner FROM guard WHERE resource = ?", (resource,)).fetchone()
    return row == (token, owner)


def guarded(db, resource, token, owner, statements):
    db.execute("BEGIN IMMEDIATE")
    try:
        for sql, params in statements:
            db.execute(sql, params)
        (count,) = db.execute(
            "SELECT count(*) FROM guard WHERE resource = ? AND token = ? AND owner = ?", (resource, token, owner)
        ).fetchone()
        if not count:
            db.rollback()
            return False
        db.commit()
        return True
    finally:
        if db.in_transaction:
            db.rollback()
