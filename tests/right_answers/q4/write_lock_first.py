"""The write lock comes first in both, then the look, then the change."""


def register(db, resource, token, owner):
    db.execute("BEGIN IMMEDIATE")
    try:
        row = db.execute("SELECT token, owner FROM guard WHERE resource = ?", (resource,)).fetchone()
        if row is None:
            db.execute("INSERT INTO guard (resource, token, owner) VALUES (?, ?, ?)", (resource, token, owner))
        elif row[0] < token:
            db.execute("UPDATE guard SET token = ?, owner = ? WHERE resource = ?", (token, owner, resource))
        elif row != (token, owner):
            db.rollback()
            return False
        db.commit()
        return True
    except BaseException:
        db.rollback()
        raise


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
