"""loses: late writer, registered first

The owner is all that is compared: what it began under an earlier grant passes as well.
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
    with db:
        held = db.execute("UPDATE guard SET token = token WHERE resource = ? AND owner = ?", (resource, owner))
        if held.rowcount == 1:
            for sql, params in statements:
                db.execute(sql, params)
    return held.rowcount == 1
