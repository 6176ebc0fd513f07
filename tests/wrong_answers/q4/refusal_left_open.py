"""loses: transaction closed

An UPDATE that changes no row has opened a transaction as well.
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
    held = db.execute(
        "UPDATE guard SET token = token WHERE resource = ? AND token = ? AND owner = ?", (resource, token, owner)
    )
    if held.rowcount == 0:
        return False
    with db:
        for sql, params in statements:
            db.execute(sql, params)
    return True
