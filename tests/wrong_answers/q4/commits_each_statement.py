"""loses: atomic check, all or nothing

Each statement is committed by itself, after a look of its own.
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
    for sql, params in statements:
        db.execute("BEGIN IMMEDIATE")
        try:
            row = db.execute("SELECT token, owner FROM guard WHERE resource = ?", (resource,)).fetchone()
            if row != (token, owner):
                return False
            db.execute(sql, params)
            db.commit()
        finally:
            db.rollback()
    return True
