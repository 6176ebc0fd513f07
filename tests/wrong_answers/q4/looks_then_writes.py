"""loses: atomic check

Looks at the guard, and writes in a transaction of its own: somebody registers in between.
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
    row = db.execute("SELECT token, owner FROM guard WHERE resource = ?", (resource,)).fetchone()
    if row != (token, owner):
        return False
    with db:
        for sql, params in statements:
            db.execute(sql, params)
    return True
