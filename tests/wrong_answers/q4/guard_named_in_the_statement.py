"""loses: one guard

Puts the names into the text of the statement, where an apostrophe ends it.
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
        mine = f"resource = '{resource}' AND token = {token} AND owner = '{owner}'"
        held = db.execute(f"UPDATE guard SET token = token WHERE {mine}")
        if held.rowcount == 1:
            for sql, params in statements:
                db.execute(sql, params)
    return held.rowcount == 1
