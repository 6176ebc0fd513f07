"""SqlFencedRegister: the same contract as FencedRegister, in a table of an SQL database.

One row of the table `guard` stands for one protected resource, however many rows and tables that has. Each step is one
transaction that begins by writing the guard's row, which locks it; whose the row is, is then read, never taken from the
number of rows, which drivers count differently (E77). The data are in the guard's own database, so that both are
committed or neither. The statements are plain SQL for SQLite, MariaDB and PostgreSQL.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .holder import Grant, pair

TABLES = (
    "CREATE TABLE IF NOT EXISTS guard "
    "(resource VARCHAR(200) PRIMARY KEY, token BIGINT NOT NULL, owner VARCHAR(200) NOT NULL)",
    "CREATE TABLE IF NOT EXISTS register (name VARCHAR(200) PRIMARY KEY, number BIGINT NOT NULL)",
)
MARKS = {  # how a driver writes a parameter, by the package that its connections come from; PEP 249, «paramstyle»
    "sqlite3": "?",
    "mariadb": "?",
    "pymysql": "%s",
    "MySQLdb": "%s",
    "mysql": "%s",
    "psycopg": "%s",
    "psycopg2": "%s",
}
Statement = tuple[str, Sequence[Any]]


def create_tables(connection: Any) -> None:
    """Makes the tables `guard` and `register` where they are missing."""
    with transaction(connection) as cursor:
        for table in TABLES:
            cursor.execute(table)


class SqlFencedRegister:
    """The number called `name` in the table `register`; 0 where there is none yet. `connection`: from a DB-API driver,
    used by one thread at a time, not in autocommit, with no transaction open when it is given to a call.
    `guard`: the name of the protected resource, if it has more parts than this one. Raises ValueError for a driver that
    is not in MARKS, and for autocommit, which would tear comparing and writing apart."""

    def __init__(self, connection: Any, name: str, guard: str | None = None) -> None:
        self.connection, self.name, self.guard, self._mark = connection, name, guard or name, mark(connection)

    def register(self, lease: Grant) -> bool:
        """The holder's first act. False: a newer holder has registered, or another one of the same token; then read
        nothing and give up. Raises ValueError for a lease without a fencing token."""
        fence, owner = pair(lease)
        self._make_the_guard()
        with transaction(self.connection) as cursor:
            claim = "UPDATE guard SET token = ?, owner = ? WHERE resource = ? AND token < ?"
            self._do(cursor, claim, fence, owner, self.guard, fence)
            return self._is_ours(cursor, fence, owner)

    def read(self) -> int:
        with transaction(self.connection) as cursor:
            found = self._do(cursor, "SELECT number FROM register WHERE name = ?", self.name).fetchone()
            return int(found[0]) if found else 0

    def write(self, value: int, lease: Grant) -> bool:
        """False: this holder is not, or not any more, the one who registered last, and nothing has changed."""
        with self._guarded(lease) as cursor:
            if cursor is not None:  # the guard is locked: nobody else is here
                found = self._do(cursor, "SELECT 1 FROM register WHERE name = ?", self.name).fetchone()
                update, insert = "UPDATE register SET number = ? WHERE name = ?", "INSERT INTO register VALUES (?, ?)"
                args = (value, self.name) if found else (self.name, value)
                self._do(cursor, update if found else insert, *args)
            return cursor is not None

    def run(self, statements: Iterable[Statement], lease: Grant) -> bool:
        """Writes by statements of your own, (text, parameters) as your driver wants them: all of them or, if one of
        them raises, none. False: refused, as in `write`."""
        with self._guarded(lease) as cursor:
            for text, parameters in statements if cursor is not None else ():
                cursor.execute(text, parameters)
            return cursor is not None

    # -- the small steps ---------------------------------------------------------------------------------------

    def _make_the_guard(self) -> None:
        """A row with a token below all, so that there is one to lock. Of two who make it at once, one is refused."""
        with transaction(self.connection) as cursor:
            if self._do(cursor, "SELECT 1 FROM guard WHERE resource = ?", self.guard).fetchone():
                return
        try:
            with transaction(self.connection) as cursor:
                self._do(cursor, "INSERT INTO guard VALUES (?, 0, '')", self.guard)
        except Exception as error:  # each driver has a class of its own for it, of one name (PEP 249)
            if "IntegrityError" not in [kind.__name__ for kind in type(error).__mro__]:
                raise

    @contextmanager
    def _guarded(self, lease: Grant) -> Iterator[Any]:
        """A transaction that has the guard's row locked; its cursor, or None if the row is not this holder's."""
        fence, owner = pair(lease)
        with transaction(self.connection) as cursor:
            lock = "UPDATE guard SET owner = owner WHERE resource = ? AND token = ? AND owner = ?"
            self._do(cursor, lock, self.guard, fence, owner)
            yield cursor if self._is_ours(cursor, fence, owner) else None

    def _is_ours(self, cursor: Any, fence: int, owner: str) -> bool:
        found = self._do(cursor, "SELECT token, owner FROM guard WHERE resource = ?", self.guard).fetchone()
        return found is not None and (int(found[0]), found[1]) == (fence, owner)

    def _do(self, cursor: Any, statement: str, *parameters: Any) -> Any:
        cursor.execute(statement.replace("?", self._mark), parameters)
        return cursor


@contextmanager
def transaction(connection: Any) -> Iterator[Any]:
    """A cursor whose work is committed at the end, or rolled back if anything is raised."""
    cursor = connection.cursor()
    try:
        yield cursor
    except BaseException:
        connection.rollback()
        raise
    finally:
        cursor.close()
    connection.commit()


def mark(connection: Any) -> str:
    """How this driver writes a parameter. Raises ValueError for an unknown driver or a connection in autocommit."""
    driver = type(connection).__module__.partition(".")[0]
    if driver not in MARKS:
        raise ValueError(f"Connections of {driver!r} are not known here; known are those of {', '.join(MARKS)}.")
    by_itself = getattr(connection, "get_autocommit", lambda: getattr(connection, "autocommit", False))()
    if by_itself is True or (driver == "sqlite3" and connection.isolation_level is None):
        raise ValueError("This connection commits each statement by itself: open one that does not (autocommit off).")
    return MARKS[driver]
