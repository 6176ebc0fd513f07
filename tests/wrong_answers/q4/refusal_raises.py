"""loses: order of tokens, repeated token, late writer

Says no by an exception.
"""


class Refused(Exception):
    pass


def register(db, resource, token, owner):
    with db:
        db.execute(
            "INSERT INTO guard VALUES (?, ?, ?) ON CONFLICT (resource) DO UPDATE "
            "SET token = excluded.token, owner = excluded.owner WHERE excluded.token > token",
            (resource, token, owner),
        )
        row = db.execute("SELECT token, owner FROM guard WHERE resource = ?", (resource,)).fetchone()
    if row != (token, owner):
        raise Refused(f"{owner} is too late")
    return True


def guarded(db, resource, token, owner, statements):
    db.execute("BEGIN IMMEDIATE")
    try:
        row = db.execute("SELECT token, owner FROM guard WHERE resource = ?", (resource,)).fetchone()
        if row == (token, owner):
            for sql, params in statements:
                db.execute(sql, params)
        else:
            raise Refused(f"{owner} is too late")
        db.commit()
        return row == (token, owner)
    except BaseException:
        db.rollback()
        raise
