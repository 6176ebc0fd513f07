"""Stores and commits, and looks then: who was overtaken by a higher token meanwhile says so at once."""


def register(db, resource, token, owner):
    with db:
        db.execute(
            "INSERT INTO guard VALUES (?, ?, ?) ON CONFLICT (resource) DO UPDATE "
            "SET token = excluded.token, owner = excluded.owner WHERE excluded.token > token",
            (resource, token, owner),
        )
    found = db.execute("SELECT token, owner FROM guard WHERE resource = ?", (resource,)).fetchall()
    return found == [(token, owner)]


def guarded(db, resource, token, owner, statements):
    me = "SELECT count(*) FROM guard WHERE resource = ? AND token = ? AND owner = ?"
    with db:
        db.execute("DELETE FROM guard WHERE 0")  # opens the transaction, and takes the write lock
        (mine,) = db.execute(me, (resource, token, owner)).fetchone()
        for statement in statements if mine else ():
            db.execute(*statement)
    return mine == 1
