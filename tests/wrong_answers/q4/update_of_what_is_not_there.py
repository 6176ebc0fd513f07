"""loses: order of tokens, repeated token

There is no row at first, so there is nothing to change.
"""


def register(db, resource, token, owner):
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
