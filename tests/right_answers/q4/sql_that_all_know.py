"""Makes the row when it is missing, raises the token, looks; changes the guard's row to keep others from it."""


def register(db, resource, token, owner):
    if not db.execute("SELECT 1 FROM guard WHERE resource = ?", (resource,)).fetchone():
        try:
            with db:
                db.execute("INSERT INTO guard VALUES (?, 0, '')", (resource,))
        except db.IntegrityError:
            pass  # somebody else has made it
    with db:
        db.execute(
            "UPDATE guard SET token = ?, owner = ? WHERE resource = ? AND token < ?", (token, owner, resource, token)
        )
        row = db.execute("SELECT token, owner FROM guard WHERE resource = ?", (resource,)).fetchone()
    return (row[0], row[1]) == (token, owner)


def guarded(db, resource, token, owner, statements):
    with db:
        held = db.execute(
            "UPDATE guard SET token = token WHERE resource = ? AND token = ? AND owner = ?", (resource, token, owner)
        )
        if held.rowcount == 1:
            for sql, params in statements:
                db.execute(sql, params)
    return held.rowcount == 1
