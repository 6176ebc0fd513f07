"""An SQL database behind the network of a world: each statement is one request, executed and committed by the server at
one moment, in an SQLite of its own. It keeps its data over a restart. Only what a row that is a lock needs, and a value
in a row of its own: no transaction of several statements.
"""

from __future__ import annotations

import json
import sqlite3
from typing import Any


class Database:
    """The end at the server: takes the place of the command SQL."""

    def __init__(self) -> None:
        self.connection = sqlite3.connect(":memory:", isolation_level=None)

    def __call__(self, words: list[bytes]) -> int | bytes:
        """How many rows were changed; for a SELECT the rows, as JSON."""
        cursor = self.connection.execute(words[1].decode(), json.loads(words[2]))
        return cursor.rowcount if cursor.description is None else json.dumps(cursor.fetchall()).encode()


class Cursor:
    """What a statement gave: as much of a cursor as is needed."""

    def __init__(self, reply: int | bytes) -> None:
        self.rows = json.loads(reply) if isinstance(reply, bytes) else []
        self.rowcount = reply if isinstance(reply, int) else -1

    def fetchone(self) -> Any:
        return self.rows[0] if self.rows else None


class RemoteDatabase:
    """The client's end: `with db:` and `db.execute(statement, values)`, each statement a transaction."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def __enter__(self) -> None:
        return None

    def __exit__(self, *exc: object) -> None:
        return None

    def execute(self, statement: str, values: Any = ()) -> Cursor:
        return Cursor(self.client.execute_command("SQL", statement, json.dumps(list(values))))


def serve(me: Any, name: str) -> None:
    """Makes the server `name` of this client's world a database, unless it is one already. Its replica has the same
    data at any time: commits are synchronous."""
    database = me.world.server(name).handlers.setdefault("SQL", Database())
    for replica in getattr(me.world.server(name).role, "replicas", ()):
        replica.server.handlers["SQL"] = database


class Cell:
    """A value in a row of its own."""

    def __init__(self, db: RemoteDatabase, name: str, first: object) -> None:
        self.db, self.name = db, name
        db.execute("CREATE TABLE IF NOT EXISTS cell (name TEXT PRIMARY KEY, value)")
        db.execute("INSERT OR IGNORE INTO cell VALUES (?, ?)", (name, first))

    def read(self) -> Any:
        return self.db.execute("SELECT value FROM cell WHERE name = ?", (self.name,)).fetchone()[0]

    def write(self, value: object, where: str = "1") -> bool:
        """Whether it was written: `where`, a condition on the row, held."""
        change = f"UPDATE cell SET value = ? WHERE name = ? AND {where}"
        return self.db.execute(change, (value, self.name)).rowcount == 1

    def do(self, what: str) -> bool:
        """Takes one, if there is one."""
        take = "UPDATE cell SET value = value - 1 WHERE name = ? AND value >= 1"
        return self.db.execute(take, (self.name,)).rowcount == 1


def cell(me: Any, name: str, first: object) -> Any:
    """A watched cell; whoever comes first gives it its value."""
    serve(me, "db")
    return me.store(Cell(RemoteDatabase(me.redis("db")), name, first))
