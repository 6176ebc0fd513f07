"""loses: order of tokens, atomic check

A lock of one Python process, made for each call, keeps nobody away.
"""

import threading


def register(db, resource, token, owner):
    with threading.Lock():
        row = db.execute("SELECT token, owner FROM guard WHERE resource = ?", (resource,)).fetchone()
        if row is not None and row[0] >= token:
            return row == (token, owner)
        with db:
            db.execute("REPLACE INTO guard VALUES (?, ?, ?)", (resource, token, owner))
        return True


def guarded(db, resource, token, owner, statements):
    with threading.Lock():
        row = db.execute("SELECT token, owner FROM guard WHERE resource = ?", (resource,)).fetchone()
        if row != (token, owner):
            return False
        with db:
            for sql, params in statements:
                db.execute(sql, params)
        return True
