"""loses: order of tokens, repeated token

Whoever comes last is in, however low its token is.
"""


def register(db, resource, token, owner):
    with db:
        db.execute("REPLACE INTO guard VALUES (?, ?, ?)", (resource, token, owner))
    return True


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
