"""The stage for question 7: the table `progress` beside two tables of effects, a lock for each task, workers that call
the answer, and rivals with statements of their own.

A play is a list of rounds in one run. Each begins with tables of its own; then the workers do their part, in an order
that the round gives (`turns`) or that the seed draws. What is left is plain data: of each round the tables before and
after, the same before and after each call, what the calls gave, and the statements in the order in which they reached
SQLite.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...sim import RanAway, World
from ..sqlstage import Connection, SqlStage, Statement, orders, short
from ..trial import Setting
from .given import TaskLock, lock_of, plain, same, seen, watched

SCHEMA = """
CREATE TABLE progress(task TEXT PRIMARY KEY, epoch INTEGER NOT NULL, worker TEXT NOT NULL, step INTEGER NOT NULL,
data TEXT NOT NULL);
CREATE TABLE sent(number INTEGER PRIMARY KEY, what TEXT NOT NULL);
CREATE TABLE stock(item TEXT PRIMARY KEY, pieces INTEGER NOT NULL);
"""
TABLES = ("progress", "sent", "stock")
STOCK = (("bolts", 1000), ("nuts", 1000))

Row = tuple[str, int, str, int, str]  # task, epoch, worker, step, data
Effect = tuple[str, tuple[Any, ...]]  # a statement of the learner's caller, with its parameters
Tables = Mapping[str, list[list[Any]]]
Facts = tuple[Mapping[str, Any], None]
LONG = 1000.0  # seconds from one round to the next: longer than anybody waits, or any lease
MOST = 36  # rounds of one play: all orders of three statements and four
ROOM = 9  # empty turns after each: in them fit the round trips of a lock
HELD = 20  # TTLs for which another's grant lasts, as if it were renewed


@dataclass(frozen=True)
class Round:
    """rows: of `progress`, at the beginning.  turns: see `SqlStage`."""

    rows: tuple[Row, ...]
    turns: Sequence[str] = ()


@dataclass
class Desk:
    """What a worker has before it in one round. lock: as handed to the answer.  other: the same, for somebody who
    renews it."""

    stage: SqlStage
    me: Any
    db: Connection
    lock: TaskLock
    other: Any
    calls: list[dict[str, Any]] = field(default_factory=list)
    changed: list[int] = field(default_factory=list)
    found: list[list[Any]] = field(default_factory=list)

    def call(self, function: Callable[..., Any], *args: Any, about: str = "", **more: Any) -> Any:
        """Calls the answer and notes it, with the tables as they are before and after. about: the story so far, for
        the reader.  more: what the judge has to know of it.  Returns the Progress that came back, or whatever did."""
        before, got = self.tables(), list[Any]()
        self.lock.granted = None
        call = self.stage.call(self.db, watched(function, got), *args)
        value, message, redis = got or [None, "", False]
        lease = self.lock.granted or getattr(next(iter(args), None), "lease", None)
        call |= {"args": [seen(arg) or plain(arg) for arg in args], "got": seen(value), "about": about, **more}
        call |= {"whole": message, "redis": redis, "before": before, "tables": self.tables()}
        call["same_lease"] = lease is not None and same(getattr(value, "lease", None), lease)
        self.calls.append(call)
        return value

    def tables(self) -> Tables:
        return tables(self.stage)

    def outside(self, statement: str, *parameters: Any) -> None:
        """What somebody else has done meanwhile."""
        self.stage.change(statement, *parameters)

    # -- what a rival does

    def finish(self, row: Row, data: str) -> None:
        """The holder of `row` finishes a step in three statements, of which the third commits."""
        with self.db:
            mine = "/* finishes a step */ UPDATE progress SET step = step + 1, data = ? WHERE task = ? AND epoch = ?"
            self.changed.append(self.db.execute(f"{mine} AND worker = ?", (data, row[0], row[1], row[2])).rowcount)
            if self.changed[-1]:
                self.db.execute("/* its effect */ INSERT INTO sent VALUES (NULL, ?)", (data,))

    def succeed(self, task: str) -> None:
        """Takes the task over in three statements: raises the epoch, looks, commits."""
        with self.db:
            take = "/* takes over */ UPDATE progress SET epoch = epoch + 1, worker = ? WHERE task = ?"
            self.db.execute(take, (self.me.name, task))
            look = "/* looks */ SELECT step, data, (SELECT count(*) FROM sent) FROM progress WHERE task = ?"
            self.found.append(list(self.db.execute(look, (task,)).fetchone()))


Work = Callable[[Desk], object]


def play(
    setting: Setting,
    rounds: Sequence[Round],
    work: Mapping[str, Work],
    task: str,
    ttl: float = 10.0,
    strike: Callable[[World, Statement], None] | None = None,
) -> list[dict[str, Any]]:
    """Plays the rounds, each worker doing its work in each of them; `ttl`, in seconds, is that of the task's lock;
    `strike` is called before each statement. Raises RanAway for a worker that does not come back."""
    left: list[dict[str, Any]] = []
    about: dict[str, Any] = {"seed": setting.seed, "story": setting.token, "patience": setting.patience}
    with World(**about) as world, SqlStage(world, SCHEMA) as stage:
        world.server("redis")
        if strike is not None:
            stage.triggers.append(lambda statement: strike(world, statement))
        table = _Table(stage, rounds, left, task, ttl)
        for name, part in work.items():
            world.client(name).start(_worker, table, part)
        world.run(until=LONG * (len(rounds) + 1))
        table.end()
        busy = {name for name in table.busy if not world.client(name).crashed}
    if busy:
        raise RanAway(f"A call by {min(busy)} had not come back after {LONG:g} s, statements and waits included.")
    return left


def _worker(me: Any, table: _Table, work: Work) -> None:
    db = table.stage.connect(me)
    lock, other = (lock_of(me, table.task, table.ttl * by) for by in (1, HELD))
    for number in range(len(table.rounds)):
        time.sleep(max(0.0, LONG * (number + 1) - me.world.now))
        table.busy.add(me.name)
        work(table.open(number, Desk(table.stage, me, db, lock, other)))
        if me.world.now >= LONG * (number + 2):
            return  # too late for the next round: it stays busy
        table.busy.remove(me.name)


@dataclass
class _Table:
    stage: SqlStage
    rounds: Sequence[Round]
    left: list[dict[str, Any]]
    task: str
    ttl: float
    desks: list[Desk] = field(default_factory=list)
    logged: int = 0
    busy: set[str] = field(default_factory=set)

    def open(self, number: int, desk: Desk) -> Desk:
        """The desk in this round; who comes first lays the table."""
        if number == len(self.left):
            self.end()
            self._lay(self.rounds[number])
        self.desks.append(desk)
        return desk

    def _lay(self, this: Round) -> None:
        self.stage.change("BEGIN IMMEDIATE")
        for name, rows in {"progress": this.rows, "sent": (), "stock": STOCK}.items():
            self.stage.change(f"DELETE FROM {name}")
            for row in rows:
                self.stage.change(f"INSERT INTO {name} VALUES ({', '.join('?' * len(row))})", *row)
        self.stage.change("COMMIT")
        self.stage.new_round(this.turns)
        self.left.append({"before": tables(self.stage)})

    def end(self) -> None:
        """Writes down what became of the round."""
        if self.left:
            said = [[row["worker"], short(row["text"]), row["outcome"]] for row in self.stage.log[self.logged :]]
            calls = sorted((call for desk in self.desks for call in desk.calls), key=lambda call: float(call["ended"]))
            rivals = {desk.me.name: {"changed": desk.changed, "found": desk.found} for desk in self.desks}
            self.left[-1] |= {"after": tables(self.stage), "calls": calls, "log": said, "rivals": rivals}
        self.logged, self.desks = len(self.stage.log), []


def tables(stage: SqlStage) -> Tables:
    """What is committed."""
    return {name: [list(row) for row in stage.rows(f"SELECT * FROM {name} ORDER BY 1")] for name in TABLES}


def all_orders(
    setting: Setting, rows: tuple[Row, ...], work: Mapping[str, Work], task: str, m: int = 0
) -> list[dict[str, Any]]:
    """A round for each order of the statements of two workers, where there are not too many, else for some that are
    drawn. How many statements the answer makes is seen by letting its worker, the first, do its work alone; the other
    makes `m`, or as many."""
    (first, part), (second, _) = work.items()
    (alone,) = play(setting, [Round(rows)], {first: part}, task)
    n = min(max(len(alone["log"]), 1), 12)
    m = m or n
    draw, both = setting.draw, [first] * n + [second] * m
    if n + m <= 8:
        every = list(orders(first, n, second, m))
        turns = every if len(every) <= MOST else draw.sample(every, MOST)
    else:
        turns = [tuple(draw.sample(both, len(both))) for _ in range(MOST)]
    return play(setting, [Round(rows, _roomy(each)) for each in turns], work, task)


def _roomy(turns: Iterable[str]) -> tuple[str, ...]:
    return tuple(each for turn in turns for each in (turn, *("",) * ROOM))
