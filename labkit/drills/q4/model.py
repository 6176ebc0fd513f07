"""The model answer to q4, cut from its solution by tools/exercises.py; it is not edited by hand."""

from sqlite3 import Connection
from typing import Any


def register(db: Connection, resource: str, token: int, owner: str) -> bool:
    """The holder's first act: True if from now on the guard of this resource is its own."""
    try:
        with db:
            db.execute("INSERT INTO guard VALUES (?, ?, ?)", (resource, token, owner))
        return True
    except db.IntegrityError:  # somebody has registered before; and the row stays
        pass
    with db:
        take = "UPDATE guard SET token = ?, owner = ? WHERE resource = ? AND token < ?"
        db.execute(take, (token, owner, resource, token))
        look = "SELECT token, owner FROM guard WHERE resource = ?"
        held: tuple[int, str] | None = db.execute(look, (resource,)).fetchone()
    return held == (token, owner)


Statement = tuple[str, tuple[Any, ...]]


def guarded(db: Connection, resource: str, token: int, owner: str, statements: list[Statement]) -> bool:
    """Carries out all statements, (sql, params) each, if the guard is this holder's; whether it is."""
    with db:
        mine = "UPDATE guard SET owner = owner WHERE resource = ? AND token = ? AND owner = ?"
        if db.execute(mine, (resource, token, owner)).rowcount != 1:
            return False
        for sql, params in statements:  # nobody else can touch the guard until we commit
            db.execute(sql, params)
        return True
