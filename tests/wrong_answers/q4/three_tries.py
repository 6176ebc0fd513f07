"""loses: order of tokens

Changes only what is still as it was seen, and gives up after three lost races.
"""


def register(db, resource, token, owner):
    for _ in range(3):
        row = db.execute("SELECT token, owner FROM guard WHERE resource = ?", (resource,)).fetchone()
        if row is not None and row[0] >= token:
            return row == (token, owner)
        with db:
            if row is None:
                took = db.execute("INSERT OR IGNORE INTO guard VALUES (?, ?, ?)", (resource, token, owner))
            else:
                took = db.execute(
                    "UPDATE guard SET token = ?, owner = ? WHERE resource = ? AND token = ? AND owner = ?",
                    (token, owner, resource, *row),
                )
        if took.rowcount == 1:
            return True
    return False


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
