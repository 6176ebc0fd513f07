"""loses: all or nothing, transaction closed

Commits or rolls back where it returns, and not where something is raised.
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
    row = db.execute("SELECT token, owner FROM guard WHERE resource = ?", (resource,)).fetchone()
    if row != (token, owner):
        db.rollback()
        return False
    for sql, params in statements:
        db.execute(sql, params)
    db.commit()
    return True
