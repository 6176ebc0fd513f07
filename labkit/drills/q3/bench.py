"""The stage for question 3: a table of tasks, workers that call the answer, and rivals with statements of their own.

A play is a list of rounds in one run. Each round begins with a table of its own, at a time of its own; then the workers
do their part, in an order that the round gives (`turns`) or that the seed draws. What is left is plain data: of each
round the table before and after, what the calls gave, and the statements in the order in which they reached SQLite.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...sim import RanAway, World
from ..sqlstage import Connection, SqlStage, orders, short
from ..trial import Setting

SCHEMA = """CREATE TABLE task(id INTEGER PRIMARY KEY, status TEXT, worker TEXT, version INTEGER, lease_until REAL);"""
Row = tuple[int, str, str | None, int, float | None]
Facts = tuple[Mapping[str, Any], None]
_RUNS = "UPDATE task SET status='RUNNING', worker=?, version=version+1, lease_until=?"
_WAITS = "UPDATE task SET status='PENDING', worker=NULL, lease_until=NULL, version=version+1"
LONG = 1000.0  # seconds from one round to the next: longer than anybody waits
MOST = 70  # rounds of one play: all orders of four statements and four


@dataclass(frozen=True)
class Round:
    """rows: the table at its beginning, by the wall clock at that moment.  turns: see `SqlStage`."""

    rows: Callable[[float], Iterable[Row]]
    turns: Sequence[str] = ()


@dataclass
class Desk:
    """What a worker has before it in one round. now: the wall clock at its beginning."""

    stage: SqlStage
    db: Connection
    name: str
    now: float
    calls: list[dict[str, Any]] = field(default_factory=list)
    changed: list[int] = field(default_factory=list)

    def call(self, function: Callable[..., Any], *args: Any) -> Any:
        """Calls the answer, and notes it. Returns its value as plain data."""
        call = self.stage.call(self.db, function, *args)
        self.calls.append(call | {"args": [_plain(arg) for arg in args]})
        return call["value"]

    # -- what a rival does: one statement each, committed by itself; how many rows it changed

    def claim(self, lease: float, but: int = 0) -> int:
        """The first free task, if there are more than `but`."""
        free = "SELECT %s FROM task WHERE status='PENDING'"
        what = f"id=({free % 'min(id)'}) AND ({free % 'count(*)'})>?"
        return self._do("claims", f"{_RUNS} WHERE {what}", self.name, self.now + lease, but)

    def reap(self) -> int:
        return self._do("reaps", f"{_WAITS} WHERE status='RUNNING' AND lease_until<=?", self.now)

    def complete(self, number: int, version: int) -> int:
        mine = "id=? AND version=? AND worker=? AND status='RUNNING'"
        return self._do("completes", f"UPDATE task SET status='DONE' WHERE {mine}", number, version, self.name)

    def _do(self, what: str, statement: str, *parameters: Any) -> int:
        self.db.isolation_level = None
        self.changed.append(self.db.execute(f"/* {what} */ {statement}", parameters).rowcount)
        return self.changed[-1]


Work = Callable[[Desk], object]


def play(setting: Setting, rounds: Sequence[Round], work: Mapping[str, Work]) -> list[dict[str, Any]]:
    """Plays the rounds, each worker doing its work in each of them. Raises RanAway for a worker that does not come
    back."""
    left: list[dict[str, Any]] = []
    about: dict[str, Any] = {"seed": setting.seed, "story": setting.token, "patience": setting.patience}
    with World(**about) as world, SqlStage(world, SCHEMA) as stage:
        table = _Table(stage, rounds, left)
        for name, part in work.items():
            world.client(name).start(_worker, table, part)
        world.run(until=LONG * (len(rounds) + 1))
        table.end()
    if table.busy:
        raise RanAway(f"A call by {min(table.busy)} had not come back after {LONG:g} s, statements and waits included.")
    return left


def _worker(me: Any, table: _Table, work: Work) -> None:
    db = table.stage.connect(me)
    for number in range(len(table.rounds)):
        time.sleep(LONG * (number + 1) - me.world.now)
        table.busy.add(me.name)
        work(table.open(number, db, me.name))
        if me.world.now >= LONG * (number + 2):
            return  # too late for the next round: it stays busy
        table.busy.remove(me.name)


@dataclass
class _Table:
    stage: SqlStage
    rounds: Sequence[Round]
    left: list[dict[str, Any]]
    desks: list[Desk] = field(default_factory=list)
    logged: int = 0
    busy: set[str] = field(default_factory=set)

    def open(self, number: int, db: Connection, name: str) -> Desk:
        """A desk in this round; who comes first lays the table."""
        now = round(time.time(), 6)
        if number == len(self.left):
            self.end()
            self._lay(self.rounds[number], now)
        desk = Desk(self.stage, db, name, now)
        self.desks.append(desk)
        return desk

    def _lay(self, this: Round, now: float) -> None:
        rows = sorted(this.rows(now))
        self.stage.change("DELETE FROM task")
        for row in rows:
            self.stage.change("INSERT INTO task VALUES (?, ?, ?, ?, ?)", *row)
        self.stage.new_round(this.turns)
        self.left.append({"now": now, "before": [list(row) for row in rows]})

    def end(self) -> None:
        """Writes down what became of the round."""
        if self.left:
            said = [[row["worker"], short(row["text"]), row["outcome"]] for row in self.stage.log[self.logged :]]
            rows = self.stage.rows("SELECT id, status, worker, version, lease_until FROM task ORDER BY id")
            calls = sorted((call for desk in self.desks for call in desk.calls), key=lambda call: float(call["ended"]))
            changed = {desk.name: desk.changed for desk in self.desks}
            self.left[-1] |= {"after": [list(row) for row in rows], "calls": calls, "log": said, "changed": changed}
        self.logged, self.desks = len(self.stage.log), []


def all_orders(
    setting: Setting, rows: Callable[[float], Iterable[Row]], work: Mapping[str, Work], m: int = 0
) -> list[dict[str, Any]]:
    """A round for each order of the statements of two workers, where there are not too many, else for some that are
    drawn. How many statements the answer makes is seen by letting its worker, the first, do its work alone; the other
    makes `m`, or as many."""
    (first, part), (second, _) = work.items()
    (alone,) = play(setting, [Round(rows)], {first: part})
    n = min(max(len(alone["log"]), 1), 12)
    m = m or n
    every = list(orders(first, n, second, m)) if n + m <= 8 else []
    draw = setting.draw
    turns = every or [_shuffled(draw, [first] * n + [second] * m) for _ in range(MOST)]
    return play(setting, [Round(rows, each) for each in turns], work)


def _shuffled(draw: random.Random, names: list[str]) -> tuple[str, ...]:
    """Any order, those in long pieces not much rarer than those in short ones."""
    return tuple(draw.sample(names, len(names)))


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


# -- for judges ------------------------------------------------------------------------------------------------------


def by_id(rows: Iterable[Sequence[Any]]) -> dict[int, Sequence[Any]]:
    return {row[0]: row for row in rows}


def shown(row: Sequence[Any] | None) -> str:
    """A row in words."""
    if row is None:
        return "gone"
    number, status, worker, version, until = row
    return f"task {number}: {status}, worker {worker}, version {version}, lease_until {until}"


def in_order(this: Mapping[str, Any]) -> str:
    """The statements of a round, in the order in which they were carried out."""
    steps = [f"{who}: {text}{'' if outcome == 'ok' else f' ({outcome})'}" for who, text, outcome in this["log"]]
    if not steps:
        return ""
    return f" The order was: {'; '.join(steps[:14])}{'; …' if len(steps) > 14 else ''}."
