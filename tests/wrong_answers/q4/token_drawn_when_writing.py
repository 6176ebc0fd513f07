"""loses: late writer, registered first

The third scheme of the article (E80): the number is drawn when one writes, so who comes last has the highest.
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
        drawn = db.execute("UPDATE guard SET token = token + 1, owner = ? WHERE resource = ?", (owner, resource))
        if drawn.rowcount == 1:
            for sql, params in statements:
                db.execute(sql, params)
    return drawn.rowcount == 1
