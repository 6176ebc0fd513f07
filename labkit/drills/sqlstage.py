"""A real SQLite file that the workers of a world share, every statement of theirs a point at which another may come in.

    with World(seed=setting.seed) as world, SqlStage(world, "CREATE TABLE task (…); INSERT …;") as stage:
        def worker(me):                         # a client of the world, as always
            db = stage.connect(me)              # isinstance(db, sqlite3.Connection); one for each worker
            calls.append(stage.call(db, claim, me.name, 5.0, 30.0))     # plain data: what came back, what was left open
        world.client("A").start(worker)
        world.client("B").start(worker)
        timeline = world.run(until=600)
        rows = stage.rows("SELECT id, status FROM task")                # what is committed, seen from outside

Before each statement (execute, executemany, each one of executescript, commit, rollback, the end of `with db:`) the
worker waits a little in virtual time. How long is a choice of the world's, of the kind "sql": drawn from its seed, or
on its tape; all the same in seed 0. Or it stands in `turns`, such as "ABBA": A's first statement, B's first, B's
second, A's second; `orders` gives all such texts. Statements beyond `turns` follow after its end. `new_round` begins
anew, so that many orders are played in one run.

Who finds the database locked waits in virtual time, and looks again and again, for up to WAIT seconds. As in SQLite
itself, who has read in its transaction and now wants to write while another does gets «database is locked» at once.
`triggers` are called with each `Statement` before it: they may pause or crash the worker (`world.pause("A", 5)`). A
worker that crashes, or comes to its end, leaves its connection rolled back. Each statement is also a note in the
timeline and stands, as plain data, in `stage.log`. Not here: other threads of a worker that use the same connection
are not refused, as SQLite's own would.
"""

from __future__ import annotations

import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, Self

from ..sim import World
from ..sim.errors import WorldClosed
from ..sim.task import Task, getcurrent
from .calls import called
from .sqlconnection import OURS, WAIT, Connection, Statement, Waited, patiently

__all__ = ["PACES", "SLOT", "WAIT", "Connection", "SqlStage", "Statement", "orders"]
SLOT = 0.001  # seconds of virtual time from one turn to the next
PACES = (1, 2, 5, 12)  # slots before a statement: the last is long enough for another's whole transaction
SHOWN = 100  # characters of a statement
PRAGMAS = ("synchronous=OFF", "journal_mode=MEMORY")  # for speed: no process really dies here


class SqlStage:
    """A database file in a temporary folder, made by the script `schema`; leaving the `with` closes and deletes it.
    log: a row for each statement of a worker: `t` (seconds), `worker`, `nth`, `text`, `outcome` ("ok" or the error),
    `waited` (seconds, for others' locks)."""

    def __init__(self, world: World, schema: str, turns: Sequence[str] = ()) -> None:
        self._on(world, turns)
        self._folder = tempfile.TemporaryDirectory(prefix="labkit-sql-", ignore_cleanup_errors=True)
        self._file = Path(self._folder.name) / "stage.db"
        self._outside = sqlite3.connect(self._file, timeout=0, isolation_level=None)
        for text in (f"PRAGMA {each}" for each in PRAGMAS):
            self._outside.execute(text)
        self._outside.executescript(schema)

    def _on(self, world: World, turns: Sequence[str]) -> None:
        """What a stage keeps, wherever its database is."""
        self.world, self.turns = world, turns
        self._begun, self._before = 0.0, dict[str, int]()
        self.triggers: list[Callable[[Statement], None]] = []
        self.log: list[dict[str, Any]] = []
        self._connections: list[Any] = []  # what `connect` has given

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._hang_up()
        self._outside.close()
        self._folder.cleanup()

    def connect(self, me: Any) -> Connection:
        """A connection of the client `me`; it is rolled back and closed when the client ends or crashes."""
        db = sqlite3.connect(self._file, timeout=0, factory=Connection)
        for text in (f"PRAGMA {each}" for each in PRAGMAS):
            sqlite3.Cursor(db).execute(text)
        db.belongs(self, me.name)
        self._connections.append(db)
        me.connections.append(Line(me, db))
        return db

    def rows(self, query: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """What is committed, read from outside: by no worker and, unless one is in the middle of its commit, in no
        time. Once the run is over nobody is waited for: workers that are still there are rolled back first."""
        if not isinstance(getcurrent(), Task):
            self._hang_up()
        step = lambda: self._outside.execute(query, parameters).fetchall()  # noqa: E731
        return patiently(step, Waited(), lambda: True)

    change = rows
    """A change from outside, committed at once: to set the stage anew, or as a failover would change it."""

    def new_round(self, turns: Sequence[str] = ()) -> None:
        """From this moment on `turns` count, from the first statement of each: so many rounds fit into one run."""
        self.turns, self._begun = turns, self.world.now
        self._before = {db.worker: db.count for db in self._connections}

    def _hang_up(self) -> None:
        for db in self._connections:
            db.hang_up()
        self._connections.clear()

    def call(self, db: Connection, function: Callable[..., Any], *args: Any) -> dict[str, Any]:
        """`function(db, *args)` as in `calls.called` (`shown`, `raised`, `message`, …), and with it: `worker`; `value`
        (None, a bool, number or str, a tuple of them as a list; "?" for anything else); `open`, whether it left a
        transaction open, which is then rolled back; `begun` and `ended`, seconds of the run; `statements`, how many it
        made. What the world raises goes through, such as the end of the worker."""
        begun, first, got = self.world.now, db.count, list[Any]()
        passing: list[BaseException] = []

        def work(*given: Any) -> Any:
            try:
                got.append(function(db, *given))
            except OURS as error:
                passing.append(error)
                raise
            return got[0]

        call = called(work, *args)
        if passing or self.world.hub.closed:  # or something else, raised by clean-up code once the worker is gone
            raise passing[0] if passing else WorldClosed("This world is closed.")
        call |= {"worker": db.worker, "value": _plain(got[0]) if got else None, "open": db.is_open}
        db.give_up()
        return call | {"begun": begun, "ended": self.world.now, "statements": db.count - first}

    # -- what connections ask ------------------------------------------------------------------------------------

    def point(self, statement: Statement) -> None:
        """The moment before a statement: others may come in."""
        for trigger in self.triggers:
            trigger(statement)
        time.sleep(self._pace(statement))

    def _pace(self, statement: Statement) -> float:
        if not self.turns:
            return SLOT * PACES[self.world.choices.pick("sql", statement.worker, len(PACES))]
        places = [slot for slot, worker in enumerate(self.turns, 1) if worker == statement.worker]
        nth = statement.nth - self._before.get(statement.worker, 0)
        slot = places[nth - 1] if nth <= len(places) else len(self.turns) + 1
        return max(self._begun + slot * SLOT - self.world.now, SLOT / 10)

    def note(self, statement: Statement, outcome: str, waited: float) -> None:
        """Writes down a statement and what became of it."""
        text = " ".join(statement.text.split())[:SHOWN]
        row = {"t": self.world.now, "worker": statement.worker, "nth": statement.nth, "text": text}
        self.log.append(row | {"outcome": outcome, "waited": round(waited, 6)})
        said = text if outcome == "ok" else f"{text}: {outcome}"
        self.world.emit(self.world.lane() or statement.worker, "note", said, {"drill": "sql", "outcome": outcome})


class Line:
    """A connection as the world breaks it when its client has crashed or ended."""

    server = None

    def __init__(self, me: Any, db: Any) -> None:
        self.me, self.db = me, db

    def close(self) -> None:
        if self in self.me.connections:
            self.me.connections.remove(self)
            self.db.hang_up()


def orders(first: str, n: int, second: str, m: int) -> Iterator[tuple[str, ...]]:
    """All the ways in which `n` statements of one worker and `m` of another can follow each other, as `turns`."""
    for places in combinations(range(n + m), n):
        yield tuple(first if place in places else second for place in range(n + m))


def short(text: str, limit: int = 60) -> str:
    """A statement for what is said of a round; of a rival's own, the comment in front of it says what it does."""
    if text.startswith("/*"):
        return f"({text[2 : text.index('*/')].strip()})"
    return text if len(text) <= limit else f"{text[:limit].rstrip()} …"


def pairs(before: list[list[Any]], after: list[list[Any]]) -> list[tuple[Any, Any]]:
    """Each row of a table as it was and as it is, by its first column; None where there is none."""
    old, new = {row[0]: row for row in before}, {row[0]: row for row in after}
    return [(old.get(key), new.get(key)) for key in dict.fromkeys([*old, *new])]


def _plain(value: Any) -> Any:
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, (tuple, list, sqlite3.Row)):
        return [_plain(each) for each in tuple(value)]
    return "?"
