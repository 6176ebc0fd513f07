"""loses: order of tokens

The number of rows decides: the same pair, which has registered already, changes none.
"""


def register(db, resource, token, owner):
    with db:
        took = db.execute(
            "INSERT INTO guard VALUES (?, ?, ?) ON CONFLICT (resource) DO UPDATE "
            "SET token = excluded.token, owner = excluded.owner WHERE excluded.token > token",
            (resource, token, owner),
        )
    return took.rowcount == 1


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
