"""Writes first and looks at the guard last, in the same transaction; what must not be is rolled back."""


def register(db, resource, token, owner):
    with db:
        db.execute("INSERT OR IGNORE INTO guard VALUES (?, ?, ?)", (resource, token, owner))
        db.execute(
            "UPDATE guard SET token = ?, owner = ? WHERE resource = ? AND token < ?", (token, owner, resource, token)
        )
        (count,) = db.execute(
            "SELECT count(*) FROM guard WHERE (resource, token, owner) = (?, ?, ?)", (resource, token, owner)
        ).fetchone()
        return count == 1


def carry_out(db, statements):
    """The exception that one of them raises, if any."""
    try:
        for sql, params in statements:
            db.execute(sql, params)
    except Exception as error:
        return error
    return None


def guarded(db, resource, token, owner, statements):
    db.execute("BEGIN IMMEDIATE")
    try:
        error = carry_out(db, statements)
        (count,) = db.execute(
            "SELECT count(*) FROM guard WHERE resource = ? AND token = ? AND owner = ?", (resource, token, owner)
        ).fetchone()
        if not count:
            return False
        if error is not None:
            raise error
        db.commit()
        return True
    finally:
        if db.in_transaction:
            db.rollback()
