"""The stage of `SqlStage` on a real MariaDB: the same plays, the same points, the same orders of the statements.

    with MariaDbServer() as server, World() as world, stage_on(server)(world, SCHEMA) as stage: …

Each stage has a database of its own. A connection behaves as sqlite3's does: `?` marks a parameter, a transaction opens
by itself before INSERT, UPDATE, DELETE and REPLACE, `with db:` commits or rolls back and leaves the connection open.
The server is told to wait for nobody: a statement that meets another's lock is tried again while virtual time passes.
Where all whose transactions are open wait for each other, one is rolled back and told of a deadlock, as InnoDB would.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import count
from typing import Any, Self

from ..live.mariadb import MariaDbServer, driver
from ..sim import World
from ..sim.task import Task, getcurrent
from .sqlconnection import FIRST, LONGEST, OURS, WAIT, Statement, Waited
from .sqlstage import Line, SqlStage

LOCKED, DEADLOCK = 1205, 1213  # the server's numbers for these errors
GOING = 10  # seconds of real time in which the server is done with connections that have been killed
STILL = 1.0  # seconds in which nobody gets on, until it is called a deadlock
MARK = re.compile(r"'(?:[^']|'')*'|\?|%")
WRITES = re.compile(r"(?:\s|--[^\n]*\n|/\*.*?\*/)*(?:INSERT|UPDATE|DELETE|REPLACE)\b", re.I | re.S)
_numbers = count(1)


def stage_on(server: MariaDbServer) -> Callable[..., MariaStage]:
    """What makes a stage in the place of `SqlStage`."""
    return lambda world, schema, turns=(): MariaStage(server, world, schema, turns)


class MariaStage(SqlStage):
    """A new database of `server`; leaving the `with` drops it."""

    def __init__(self, server: MariaDbServer, world: World, schema: str, turns: Sequence[str] = ()) -> None:
        self._on(world, turns)
        self._server, self._name = server, f"stage_{next(_numbers)}"
        with server.connect() as connection:
            connection.cursor().execute(f"CREATE DATABASE {self._name}")
        self._elsewhere = self._raw()
        for text in filter(str.strip, schema.replace("TEXT PRIMARY KEY", "VARCHAR(200) PRIMARY KEY").split(";")):
            self._elsewhere.cursor().execute(text)

    def __exit__(self, *exc: object) -> None:
        self._hang_up()
        self._elsewhere.cursor().execute(f"SET STATEMENT lock_wait_timeout = {GOING} FOR DROP DATABASE {self._name}")
        self._elsewhere.close()

    def connect(self, me: Any) -> Any:
        db = MariaConnection(self, me.name, self._raw())
        self._connections.append(db)
        me.connections.append(Line(me, db))
        return db

    def rows(self, query: str, *parameters: Any) -> list[tuple[Any, ...]]:
        if not isinstance(getcurrent(), Task):
            self._hang_up()
        cursor = self._elsewhere.cursor()
        _patiently(lambda: cursor.execute(*_in_its_words(query, parameters)), Waited(), lambda: False)
        return list(cursor.fetchall())

    change = rows

    def nobody_gets_on(self) -> bool:
        """Whether all whose transactions are open have been waiting for a while."""
        return all(db.waited.seconds >= STILL / 2 for db in self._connections if db.is_open)

    def kill(self, thread: int) -> None:
        """Ends the server's side of a connection that cannot be spoken to."""
        with suppress(driver().MySQLError):  # it has gone by itself
            self._elsewhere.cursor().execute(f"KILL {thread}")

    def _raw(self) -> Any:
        raw = self._server.connect(self._name)
        raw.cursor().execute("SET SESSION innodb_lock_wait_timeout = 0, lock_wait_timeout = 0")  # rows, and tables
        return raw


class MariaConnection:
    """What a worker holds: as much of sqlite3's connection as the contract names."""

    isolation_level: str | None = ""  # None: each statement commits by itself, unless somebody begins a transaction

    def __init__(self, stage: MariaStage, worker: str, raw: Any) -> None:
        self.stage, self.worker, self.raw = stage, worker, raw
        self.count, self.closed, self.waited = 0, False, Waited()
        self.under_way = False  # a statement has been sent and not been answered yet

    def __getattr__(self, name: str) -> Any:
        """The driver's errors: db.IntegrityError and the others."""
        if name.endswith(("Error", "Warning")):
            return getattr(driver(), name)
        raise AttributeError(f"A connection to MariaDB has no {name!r} here.")

    @property
    def in_transaction(self) -> bool:
        return bool(self.raw.server_status & 1)  # SERVER_STATUS_IN_TRANS

    @property
    def is_open(self) -> bool:
        return not self.closed and self.in_transaction

    def cursor(self) -> MariaCursor:
        return MariaCursor(self)

    def execute(self, sql: str, parameters: Any = (), /) -> MariaCursor:
        return self.cursor().execute(sql, parameters)

    def executemany(self, sql: str, parameters: Any, /) -> MariaCursor:
        return self.cursor().executemany(sql, parameters)

    def commit(self) -> None:
        if self.in_transaction:
            self.do("COMMIT", self.raw.commit)

    def rollback(self) -> None:
        if self.in_transaction:
            self.do("ROLLBACK", self.raw.rollback)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is not None:
            self.rollback()
            return
        try:
            self.commit()
        except BaseException:
            self.rollback()
            raise

    def close(self) -> None:
        self.closed = True
        self.raw.close()

    def give_up(self) -> None:
        if not self.closed:
            self.raw.rollback()

    def hang_up(self) -> None:
        """A connection in the middle of a statement, where its world had to leave a worker, answers nothing else: the
        server is told to drop it, and the driver closes it when the world is."""
        if self.closed:
            return
        if self.under_way or not self.raw.open:
            self.stage.kill(self.raw.thread_id())
            self.closed = True
        else:
            self.give_up()
            self.close()

    def do(self, text: str, *steps: Callable[[], Any]) -> None:
        """The point, the statement, the note: as on SQLite. A statement for many rows is a step for each, which waits
        by itself: what the others have changed stands, and must not be done again."""
        self.count += 1
        statement = Statement(self.worker, self.count, text)
        self.stage.point(statement)
        waits, outcome = list[Waited](), "ok"
        try:
            if WRITES.match(text) and self.isolation_level is not None and not self.in_transaction:
                self.raw.begin()
            for step in steps:
                self.waited = Waited()
                waits.append(self.waited)
                _patiently(partial(self._sent, step), self.waited, self._is_victim)
        except OURS:
            outcome = ""
            raise
        except BaseException as error:
            outcome = f"{type(error).__name__}: {error}"
            raise
        finally:
            self.waited = Waited()
            if outcome:
                self.stage.note(statement, outcome, sum(each.seconds for each in waits))

    def _sent(self, step: Callable[[], Any]) -> None:
        self.under_way = True
        try:
            step()
        finally:
            self.under_way = False

    def _is_victim(self) -> bool:
        """Whether there is a deadlock, and this the one to end it; it is rolled back then."""
        if not self.in_transaction or self.waited.seconds < STILL or not self.stage.nobody_gets_on():
            return False
        self.raw.rollback()
        return True


class MariaCursor:
    """A cursor with sqlite3's manners: `execute` gives it back, and one can go through its rows."""

    def __init__(self, connection: MariaConnection) -> None:
        self.connection, self._raw = connection, connection.raw.cursor()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._raw, name)  # fetchone, fetchall, rowcount, lastrowid, close, …

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self._raw)

    def execute(self, sql: str, parameters: Any = (), /) -> Self:
        self.connection.do(sql, lambda: self._raw.execute(*_in_its_words(sql, parameters)))
        return self

    def executemany(self, sql: str, parameters: Any, /) -> Self:
        found = list[int]()
        rows = [_in_its_words(sql, each) for each in parameters]
        self.connection.do(sql, *[lambda row=row: found.append(self._raw.execute(*row)) for row in rows])
        self._raw.rowcount = sum(found)
        return self


def _in_its_words(sql: str, parameters: Any) -> tuple[str, Any]:
    """`?` as the driver writes it; nothing to be filled in where there are no parameters."""
    marks = {"?": "%s", "%": "%%"}
    given = parameters if isinstance(parameters, dict) else tuple(parameters)
    return (
        (MARK.sub(lambda found: marks.get(found[0], found[0].replace("%", "%%")), sql), given) if given else (sql, None)
    )


def _patiently(step: Callable[[], Any], waited: Waited, is_victim: Callable[[], bool]) -> None:
    """Tries until nobody's lock is in the way. Raises the server's «lock wait timeout» after WAIT seconds, and its
    «deadlock» to a victim of one."""
    pause, errors = FIRST, driver().err
    while True:
        try:
            step()
            return
        except errors.OperationalError as error:
            if error.args[0] != LOCKED or waited.seconds >= WAIT:
                raise
        if is_victim():
            raise errors.OperationalError(
                DEADLOCK, "Deadlock found when trying to get lock; try restarting transaction"
            )
        time.sleep(pause)
        waited.seconds, pause = waited.seconds + pause, min(2 * pause, LONGEST)
