"""What a judge of question 7 looks at: the tables, what should be in them, and how that is said to the reader."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from typing import Any

from ..sqlstage import pairs
from .bench import SCHEMA, TABLES, Tables


def written(before: Tables, statements: Iterable[Sequence[Any]]) -> Tables:
    """The tables as they are once these statements have been carried out, each of which is sound."""
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(SCHEMA)
        for name in TABLES:
            for row in before[name]:
                db.execute(f"INSERT INTO {name} VALUES ({', '.join('?' * len(row))})", row)
        for text, parameters in statements:
            db.execute(text, parameters)
        return {name: [list(row) for row in db.execute(f"SELECT * FROM {name} ORDER BY 1")] for name in TABLES}


def row_of(rows: Tables, task: str) -> list[Any] | None:
    """The row of this task; None where there is none."""
    return next((row for row in rows["progress"] if row[0] == task), None)


def with_row(rows: Tables, row: Sequence[Any]) -> Tables:
    """The tables with this row in the place of the task's own."""
    others = [each for each in rows["progress"] if each[0] != row[0]]
    return {**rows, "progress": sorted([*others, list(row)])}


def shown(row: Sequence[Any] | None) -> str:
    """A row of `progress` in words, or a Progress."""
    if row is None:
        return "no row"
    said = [
        f"{name} {_value(value)}" for name, value in zip(("epoch", "worker", "step", "data"), row[1:5], strict=True)
    ]
    return ", ".join(said)


def shown_progress(got: Mapping[str, Any]) -> str:
    """A Progress that came back, in words."""
    return shown(["", got["epoch"], got["worker"], got["step"], got["data"]])


def _value(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:24]}… ({len(value)} characters)"


def differences(before: Tables, after: Tables) -> str:
    """Which rows have changed, in words; empty where none has."""
    return "; ".join(
        f"in {name} {_row(new)}, before {_row(old)}"
        for name in TABLES
        for old, new in pairs(before[name], after[name])
        if old != new
    )


def _row(row: Sequence[Any] | None) -> str:
    return f"({', '.join(_value(each) for each in row)})" if row else "no such row"


def in_order(this: Mapping[str, Any]) -> str:
    """The statements of a round, in the order in which they were carried out."""
    steps = [f"{who}: {text}{'' if outcome == 'ok' else f' ({outcome})'}" for who, text, outcome in this["log"]]
    if not steps:
        return ""
    return f" The order was: {'; '.join(steps[:14])}{'; …' if len(steps) > 14 else ''}."


def in_race(this: Mapping[str, Any]) -> str:
    """The same, where more than one worker was at it."""
    return in_order(this) if len({who for who, *_ in this["log"]}) > 1 else ""
