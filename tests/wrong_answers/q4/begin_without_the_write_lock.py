"""loses: order of tokens, repeated token, atomic check

BEGIN takes no lock: who has read and then wants to write while another does is told «database is locked».
"""


def register(db, resource, token, owner):
    db.execute("BEGIN")
    try:
        row = db.execute("SELECT token, owner FROM guard WHERE resource = ?", (resource,)).fetchone()
        if row is None or row[0] < token:
            db.execute("REPLACE INTO guard VALUES (?, ?, ?)", (resource, token, owner))
        db.commit()
        return row is None or row[0] < token or row == (token, owner)
    except BaseException:
        db.rollback()
        raise


def guarded(db, resource, token, owner, statements):
    db.execute("BEGIN")
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
