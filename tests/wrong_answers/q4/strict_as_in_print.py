"""loses: own second write

The first scheme of the article, at the guard: only a higher token passes, so the holder's own does not (E76).
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
        taken = db.execute(
            "UPDATE guard SET token = ?, owner = ? WHERE resource = ? AND token < ?", (token, owner, resource, token)
        )
        if taken.rowcount == 1:
            for sql, params in statements:
                db.execute(sql, params)
    return taken.rowcount == 1
