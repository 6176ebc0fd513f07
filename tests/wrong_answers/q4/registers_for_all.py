"""loses: order of tokens

Forgets which resource it is about once there is a row.
"""


def register(db, resource, token, owner):
    with db:
        db.execute("INSERT OR IGNORE INTO guard VALUES (?, ?, ?)", (resource, token, owner))
        db.execute("UPDATE guard SET token = ?, owner = ? WHERE token < ?", (token, owner, token))
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
