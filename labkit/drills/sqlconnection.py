"""The connection that a worker of an `SqlStage` holds: sqlite3's own, but for what happens around each statement.

Before it comes the stage's point, at which others may come in. SQLite itself is told to wait for nobody: a statement
that meets another's lock is tried again while virtual time passes. What SQLite would not wait for, since whoever has
read already would wait for one who waits for him, is an error at once, as it is there.
"""

from __future__ import annotations

import re
import sqlite3
import time
import weakref
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol, TypeVar

from ..sim.errors import Interrupted, WorldClosed
from ..sim.task import Kill

WAIT = 60.0  # seconds; sqlite3's own 5 would not outlast a worker that is paused in a transaction
FIRST, LONGEST = 0.001, 0.1  # seconds between two looks at a lock
COMMITS = re.compile(r"(?:\s|--[^\n]*\n|/\*.*?\*/)*(?:COMMIT|END)\b", re.I | re.S)
OURS = (WorldClosed, Interrupted, Kill)  # raised in a worker by its world
PROBE = "labkit_probe"
Result = TypeVar("Result")


class Statement(NamedTuple):
    """worker: the name of the client.  nth: its place among that worker's, from 1.  text: as the worker wrote it."""

    worker: str
    nth: int
    text: str


class Stage(Protocol):
    """What a connection asks of its stage."""

    def point(self, statement: Statement) -> None: ...

    def note(self, statement: Statement, outcome: str, waited: float) -> None: ...


class Connection(sqlite3.Connection):
    """Made by `SqlStage.connect`, which says by `belongs` whose it is."""

    stage: Stage
    worker = ""
    count = 0
    engaged = False  # something was done in the transaction that is open: it has read, or holds the write lock
    closed = False

    def belongs(self, stage: Stage, worker: str) -> None:
        self.stage, self.worker = stage, worker
        self.cursors: weakref.WeakSet[sqlite3.Cursor] = weakref.WeakSet()
        self.create_collation(PROBE, _same)

    # -- what a worker calls -------------------------------------------------------------------------------------

    def cursor(self, factory: Any = None) -> Any:
        made = super().cursor(Cursor if factory in (None, sqlite3.Cursor) else factory)
        self.cursors.add(made)
        return made

    def execute(self, sql: str, parameters: Any = (), /) -> Any:
        return self.cursor().execute(sql, parameters)

    def executemany(self, sql: str, parameters: Any, /) -> Any:
        return self.cursor().executemany(sql, parameters)

    def executescript(self, script: str, /) -> Any:
        return self.cursor().executescript(script)

    def commit(self) -> None:
        if self.in_transaction:  # else there is nothing to do, and sqlite3 does nothing
            self.do("COMMIT", super().commit)

    def rollback(self) -> None:
        if self.in_transaction:
            self.do("ROLLBACK", super().rollback)

    def __exit__(self, kind: Any, error: Any, trace: Any) -> Any:
        if kind is not None:
            self.rollback()
            return False
        try:
            self.commit()
        except BaseException:
            self.rollback()
            raise
        return False

    def close(self) -> None:
        super().close()
        self.closed = True

    # -- what the stage calls ------------------------------------------------------------------------------------

    @property
    def is_open(self) -> bool:
        """Whether a transaction is."""
        return not self.closed and self.in_transaction

    def give_up(self) -> None:
        """Rolls back what is open, and lets go of rows that nobody has fetched: no point, no waiting."""
        if not self.closed:
            for cursor in list(self.cursors):
                sqlite3.Cursor.close(cursor)
            super().rollback()
            self.engaged = False

    def hang_up(self) -> None:
        self.give_up()
        self.close()

    # -- one statement -------------------------------------------------------------------------------------------

    def do(self, text: str, step: Callable[[], Result]) -> Result:
        """The point, the statement, the note."""
        self.count += 1
        statement = Statement(self.worker, self.count, text)
        self.stage.point(statement)
        before, waited, outcome = self.in_transaction, Waited(), "ok"
        try:
            return patiently(step, waited, (lambda: True) if COMMITS.match(text) else self._may_wait)
        except OURS:
            outcome = ""
            raise
        except BaseException as error:
            outcome = f"{type(error).__name__}: {error}"
            raise
        finally:
            self.engaged = self.is_open and (self.engaged or (before and outcome == "ok"))
            if outcome:
                self.stage.note(statement, outcome, waited.seconds)

    def _may_wait(self) -> bool:
        """Not who reads at present: a transaction that has read keeps writers from their commit, and so does a query
        whose rows are not fetched to the end. SQLite replaces no collation while a query is under way."""
        try:
            self.create_collation(PROBE, _same)
        except sqlite3.OperationalError:
            return False
        return not self.engaged


class Cursor(sqlite3.Cursor):
    """A cursor whose statements are statements of its connection."""

    connection: Connection

    def execute(self, sql: str, parameters: Any = (), /) -> Any:
        return self.connection.do(_text(sql), lambda: sqlite3.Cursor.execute(self, sql, parameters))

    def executemany(self, sql: str, parameters: Any, /) -> Any:
        rows = list(parameters)  # for a second try
        return self.connection.do(_text(sql), lambda: sqlite3.Cursor.executemany(self, sql, rows))

    def executescript(self, script: str, /) -> Any:
        """Statement by statement, none of which opens a transaction by itself: as sqlite3 does it, with points."""
        self.connection.commit()
        level, self.connection.isolation_level = self.connection.isolation_level, None
        try:
            for statement in _statements(_text(script)):
                self.execute(statement)
        finally:
            self.connection.isolation_level = level
        return self


class Waited:
    """How long a statement has waited for somebody's lock."""

    seconds = 0.0


def patiently(step: Callable[[], Result], waited: Waited, may_wait: Callable[[], bool]) -> Result:
    """Tries until the database is free. Raises sqlite3's «database is locked» after WAIT seconds, or at once where
    nobody may wait."""
    pause = FIRST
    while True:
        try:
            return step()
        except sqlite3.OperationalError as error:
            if "is locked" not in str(error) or waited.seconds >= WAIT or not may_wait():
                raise
        time.sleep(pause)
        waited.seconds, pause = waited.seconds + pause, min(2 * pause, LONGEST)


def _text(sql: Any) -> str:
    if not isinstance(sql, str):
        raise TypeError(f"execute() argument 1 must be str, not {type(sql).__name__}")
    return sql


def _statements(script: str) -> Iterator[str]:
    statement = ""
    for part in script.split(";"):
        statement += part + ";"
        if sqlite3.complete_statement(statement):
            if statement.strip(" \t\n;"):
                yield statement
            statement = ""
    if statement.strip(" \t\n;"):
        yield statement


def _same(one: str, other: str) -> int:
    return (one > other) - (one < other)
