"""loses: order of tokens, repeated token

Of two who make the row at once, one is told of an IntegrityError, and it gets out.
"""


def register(db, resource, token, owner):
    if db.execute("SELECT 1 FROM guard WHERE resource = ?", (resource,)).fetchone() is None:
        with db:
            db.execute("INSERT INTO guard VALUES (?, ?, ?)", (resource, token, owner))
        return True
    with db:
        db.execute(
            "UPDATE guard SET token = ?, owner = ? WHERE resource = ? AND token < ?", (token, owner, resource, token)
        )
        row = db.execute("SELECT token, owner FROM guard WHERE resource = ?", (resource,)).fetchone()
    return row == (token, owner)


def guarded(db, resource, token, owner, statements):
    db.execute("BEGIN IMMEDIATE")
    try:
        row = db.execute("SELECT token, owner FROM guard WHERE resource = ?", (resource,)).fetchone()
        if row == (token, owner):
            for sql, params in statements:
                db.execute(sql, params)
        db.commit()
        return row == (token, owner)
    except BaseException:
        db.rollback()
        raise
