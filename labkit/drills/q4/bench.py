"""The stage for question 4: a guard beside the tables that it protects, holders that call the answer, and rivals with
statements of their own.

A play is a list of rounds in one run. Each begins with the guard as the round has it and with the same orders and
items; then the workers do their part, in an order that the round gives (`turns`) or that the seed draws. What is left
is plain data: of each round the tables before and after, the same after each call, what the calls gave, and the
statements in the order in which they reached the database. Rivals keep to SQL that MariaDB knows as well.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...sim import World
from ..sqlstage import Connection, SqlStage, orders, short
from ..trial import Setting

SCHEMA = """
CREATE TABLE guard(resource TEXT PRIMARY KEY, token INTEGER NOT NULL, owner TEXT NOT NULL);
CREATE TABLE orders(id INTEGER PRIMARY KEY, status TEXT NOT NULL);
CREATE TABLE item(id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL, number INTEGER NOT NULL);
"""
TABLES = ("guard", "orders", "item")
ORDERS = ((7, "UNPAID"), (8, "UNPAID"))
ITEMS = ((71, 7, 1), (72, 7, 4), (81, 8, 2))

Pair = tuple[int, str]  # token, owner
Statement = tuple[str, tuple[Any, ...]]
Tables = Mapping[str, list[list[Any]]]
Facts = tuple[Mapping[str, Any], None]
LONG = 1000.0  # seconds from one round to the next: longer than anybody waits
MOST = 70  # rounds of one play: all orders of four statements and four


@dataclass(frozen=True)
class Round:
    """guard: its rows at the beginning, by resource.  turns: see `SqlStage`."""

    guard: Mapping[str, Pair]
    turns: Sequence[str] = ()


@dataclass
class Desk:
    """What a worker has before it in one round."""

    stage: SqlStage
    db: Connection
    name: str
    calls: list[dict[str, Any]] = field(default_factory=list)
    changed: list[int] = field(default_factory=list)
    seen: Tables | None = None

    def call(self, function: Callable[..., Any], *args: Any, about: str = "") -> Any:
        """Calls the answer, and notes it, with the tables as they are then. about: the story so far, for the reader."""
        call = self.stage.call(self.db, function, *args)
        self.calls.append(call | {"args": _plain(args), "about": about, "tables": tables(self.stage)})
        return call["value"]

    def outside(self, statement: str, *parameters: Any) -> None:
        """What somebody else has done meanwhile."""
        self.stage.change(statement, *parameters)

    # -- what a rival does

    def register(self, resource: str, token: int, owner: str) -> None:
        """Takes over a guard that is there, in two statements, of which the second commits."""
        with self.db:
            self._take(resource, token, owner)

    def register_at_once(self, resource: str, token: int, owner: str) -> None:
        """The same in one statement, committed by itself."""
        self.db.isolation_level = None
        self._take(resource, token, owner)

    def _take(self, resource: str, token: int, owner: str) -> None:
        """`changed` gets the number of rows."""
        take = "/* registers */ UPDATE guard SET token = ?, owner = ? WHERE resource = ? AND token < ?"
        self.changed.append(self.db.execute(take, (token, owner, resource, token)).rowcount)

    def read(self) -> None:
        """Looks at all items in one statement, once it has registered."""
        rows = self.db.execute("/* reads */ SELECT id, order_id, number FROM item ORDER BY id").fetchall()
        self.seen = {"item": [list(row) for row in rows]}


Work = Callable[[Desk], object]


def play(setting: Setting, rounds: Sequence[Round], work: Mapping[str, Work]) -> list[dict[str, Any]]:
    """Plays the rounds, each worker doing its work in each of them."""
    left: list[dict[str, Any]] = []
    about: dict[str, Any] = {"seed": setting.seed, "story": setting.token, "patience": setting.patience}
    with World(**about) as world, SqlStage(world, SCHEMA) as stage:
        table = _Table(stage, rounds, left)
        for name, part in work.items():
            world.client(name).start(_worker, table, part)
        world.run(until=LONG * (len(rounds) + 1))
        table.end()
    return left


def _worker(me: Any, table: _Table, work: Work) -> None:
    db = table.stage.connect(me)
    for number in range(len(table.rounds)):
        time.sleep(max(0.0, LONG * (number + 1) - me.world.now))
        work(table.open(number, db, me.name))


@dataclass
class _Table:
    stage: SqlStage
    rounds: Sequence[Round]
    left: list[dict[str, Any]]
    desks: list[Desk] = field(default_factory=list)
    logged: int = 0

    def open(self, number: int, db: Connection, name: str) -> Desk:
        """A desk in this round; who comes first lays the table."""
        if number == len(self.left):
            self.end()
            self._lay(self.rounds[number])
        desk = Desk(self.stage, db, name)
        self.desks.append(desk)
        return desk

    def _lay(self, this: Round) -> None:
        rows = {"guard": [(name, *pair) for name, pair in this.guard.items()], "orders": ORDERS, "item": ITEMS}
        for name, given in rows.items():
            self.stage.change(f"DELETE FROM {name}")
            for row in given:
                self.stage.change(f"INSERT INTO {name} VALUES ({', '.join('?' * len(row))})", *row)
        self.stage.new_round(this.turns)
        self.left.append({"before": tables(self.stage)})

    def end(self) -> None:
        """Writes down what became of the round."""
        if self.left:
            said = [[row["worker"], short(row["text"]), row["outcome"]] for row in self.stage.log[self.logged :]]
            calls = sorted((call for desk in self.desks for call in desk.calls), key=lambda call: float(call["ended"]))
            rivals = {desk.name: {"changed": desk.changed, "seen": desk.seen} for desk in self.desks}
            self.left[-1] |= {"after": tables(self.stage), "calls": calls, "log": said, "rivals": rivals}
        self.logged, self.desks = len(self.stage.log), []


def tables(stage: SqlStage) -> Tables:
    """What is committed."""
    return {name: _plain(stage.rows(f"SELECT * FROM {name} ORDER BY 1")) for name in TABLES}


def all_orders(
    setting: Setting, guard: Mapping[str, Pair], work: Mapping[str, Work], m: int = 0
) -> list[dict[str, Any]]:
    """A round for each order of the statements of two workers, where there are not too many, else for some that are
    drawn. How many statements the answer makes is seen by letting its worker, the first, do its work alone; the other
    makes `m`, or as many."""
    (first, part), (second, _) = work.items()
    (alone,) = play(setting, [Round(guard)], {first: part})
    n = min(max(len(alone["log"]), 1), 12)
    m = m or n
    every = list(orders(first, n, second, m)) if n + m <= 8 else []
    draw = setting.draw
    turns = every or [_shuffled(draw, [first] * n + [second] * m) for _ in range(MOST)]
    return play(setting, [Round(guard, each) for each in turns], work)


def _shuffled(draw: random.Random, names: list[str]) -> tuple[str, ...]:
    return tuple(draw.sample(names, len(names)))


def _plain(value: Any) -> Any:
    return [_plain(each) for each in value] if isinstance(value, (tuple, list)) else value


# -- what holders write ----------------------------------------------------------------------------------------------


def pays(draw: random.Random, order: int = 7) -> Statement:
    """The status of an order; each time another."""
    return "UPDATE orders SET status = ? WHERE id = ?", (f"PAID {draw.randrange(10_000)}", order)


def books(draw: random.Random, item: int = 71) -> Statement:
    """The number of an item: one that nobody has read."""
    return "UPDATE item SET number = ? WHERE id = ?", (draw.randrange(10, 10_000), item)


def adds(draw: random.Random) -> Statement:
    """A row of its own."""
    return "INSERT INTO item VALUES (?, ?, ?)", (draw.randrange(1000, 10**7), 7, draw.randrange(1, 9))


def adds_and_changes(draw: random.Random) -> list[Statement]:
    """A row of its own and then its number: the other way round there is nothing to change yet."""
    insert = adds(draw)
    return [insert, books(draw, insert[1][0])]
