"""What judges of question 4 see in what a play has left: rows, differences between tables, the order of statements."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from typing import Any

from ..sqlstage import pairs
from .bench import ITEMS, ORDERS, SCHEMA, TABLES, Tables


def written(before: Tables, statements: Iterable[Sequence[Any]]) -> Tables:
    """The tables as they are once these statements have been carried out, each of which is sound."""
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(SCHEMA)
        for name in TABLES:
            db.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(_columns(name)))})", before[name])
        for text, parameters in statements:
            db.execute(text, parameters)
        return {name: [list(row) for row in db.execute(f"SELECT * FROM {name} ORDER BY 1")] for name in TABLES}


def _columns(name: str) -> Sequence[Any]:
    return ORDERS[0] if name == "orders" else ITEMS[0]


def guard_of(rows: Tables, resource: str) -> list[Any]:
    """[token, owner] of this resource; empty where there is no row."""
    return next((row[1:] for row in rows["guard"] if row[0] == resource), [])


def deadlocked(this: Mapping[str, Any]) -> bool:
    """Whether a call of this round was the victim of a deadlock, which rolled it back: on MariaDB it may get out."""
    return any(call["raised"] == "OperationalError" and "(1213," in call["message"] for call in this["calls"])


def differences(before: Tables, after: Tables) -> str:
    """Which rows have changed, in words; empty where none has."""
    return "; ".join(
        f"in {name} {_row(new)}, before {_row(old)}"
        for name in TABLES
        for old, new in pairs(before[name], after[name])
        if old != new
    )


def _row(row: Sequence[Any] | None) -> str:
    return f"({', '.join(map(repr, row))})" if row else "no such row"


def in_order(this: Mapping[str, Any]) -> str:
    """The statements of a round, in the order in which they were carried out."""
    steps = [f"{who}: {text}{'' if outcome == 'ok' else f' ({outcome})'}" for who, text, outcome in this["log"]]
    return f" The order was: {'; '.join(steps[:14])}{'; …' if len(steps) > 14 else ''}."
