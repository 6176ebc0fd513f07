"""Looks outside of a transaction, and changes only what is still as it was seen; who was too late looks again."""


def register(db, resource, token, owner):
    while True:
        row = db.execute("SELECT token, owner FROM guard WHERE resource = ?", (resource,)).fetchone()
        if row is not None and row[0] >= token:
            return row == (token, owner)
        try:
            with db:
                if row is None:
                    db.execute("INSERT INTO guard VALUES (?, ?, ?)", (resource, token, owner))
                    return True
                took = db.execute(
                    "UPDATE guard SET token = ?, owner = ? WHERE resource = ? AND token = ? AND owner = ?",
                    (token, owner, resource, *row),
                )
        except db.IntegrityError:
            continue
        if took.rowcount == 1:
            return True


def guarded(db, resource, token, owner, statements):
    with db:
        found = db.execute(
            "UPDATE guard SET token = token WHERE resource = ? AND token = ? AND owner = ?", (resource, token, owner)
        ).rowcount
        for sql, params in statements[: len(statements) * found]:
            db.execute(sql, params)
    return found == 1
