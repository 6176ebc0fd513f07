"""loses: order of tokens

Nothing commits by itself.
"""


def register(db, resource, token, owner):
    row = db.execute("SELECT token, owner FROM guard WHERE resource = ?", (resource,)).fetchone()
    if row is None or row[0] < token:
        db.execute("REPLACE INTO guard VALUES (?, ?, ?)", (resource, token, owner))
        return True
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
