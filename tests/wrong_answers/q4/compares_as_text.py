"""loses: order of tokens

Compares the numbers as text: '9' is more than '10'.
"""


def register(db, resource, token, owner):
    db.execute("BEGIN IMMEDIATE")
    row = db.execute("SELECT token, owner FROM guard WHERE resource = ?", (resource,)).fetchone()
    better = row is None or str(row[0]) < str(token)
    if better:
        db.execute("REPLACE INTO guard VALUES (?, ?, ?)", (resource, token, owner))
    db.commit()
    return better or row == (token, owner)


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
