"""loses: one guard

Looks for the pair, and not for whose guard it is.
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
        held = db.execute("UPDATE guard SET token = token WHERE token = ? AND owner = ?", (token, owner))
        if held.rowcount > 0:
            for sql, params in statements:
                db.execute(sql, params)
    return held.rowcount > 0
