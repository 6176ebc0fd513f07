"""loses: one guard

Each table has a guard of its own, made by the first who writes there (E78): what the new holder has not touched lets
the old one in.
"""

import re


def table_of(sql):
    return re.search(r"(?:UPDATE|INTO|FROM)\s+(\w+)", sql, re.I).group(1)


def may_write(db, resource, name, token, owner):
    key = f"{resource}/{name}"
    row = db.execute("SELECT token, owner FROM guard WHERE resource = ?", (key,)).fetchone()
    if row is None or row[0] < token:
        db.execute("REPLACE INTO guard VALUES (?, ?, ?)", (key, token, owner))
        return True
    return row == (token, owner)


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
        known = db.execute("SELECT 1 FROM guard WHERE resource = ?", (resource,)).fetchone()
        if not known or not all(may_write(db, resource, table_of(sql), token, owner) for sql, _ in statements):
            db.rollback()
            return False
        for sql, params in statements:
            db.execute(sql, params)
        db.commit()
        return True
    except BaseException:
        db.rollback()
        raise
