"""loses: own second write

Takes a statement that changes no row for a refusal (E77).
"""


def register(db, resource, token, owner):
    with db:
        db.execute(
            "INSERT INTO guard VALUES (?, ?, ?) ON CONFLICT (resource) DO UPDATE "
            "SET token = excluded.token, owner = excluded.owner WHERE excluded.token > token",
            (resource, token, owner),
        )
        row = db.execute("SELECT token, owner FROM guard WHERE resource = ?", (resource,)).fetchone()
    return row == (token, owner)


def guarded(db, resource, token, owner, statements):
    db.execute("BEGIN IMMEDIATE")
    try:
        row = db.execute("SELECT token, owner FROM guard WHERE resource = ?", (resource,)).fetchone()
        accepted = row == (token, owner)
        for sql, params in statements if accepted else []:
            accepted = accepted and db.execute(sql, params).rowcount > 0
        if accepted:
            db.commit()
        else:
            db.rollback()
        return accepted
    except BaseException:
        db.rollback()
        raise
