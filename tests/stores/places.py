"""The stores under test, each with a way to make new ones: in Redis, simulated or real, and in SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from itertools import count
from typing import Any

from labkit.sim import World
from labkit.stores import SqlFencedRegister
from labkit.stores.interleavings import Holder
from labkit.stores.sql import create_tables

A, B = Holder("A", 1), Holder("B", 2)


def in_world(code: Callable[[Any], Any]) -> Any:
    """What `code` returns, given a redis-py client of a simulated server."""
    found = list[Any]()
    with World() as world:
        world.server("redis")
        client = world.client("A")
        client.start(lambda me: found.append(code(me.redis())))
        world.run(until=10_000.0)
    return found[0]


def database(path: str = ":memory:") -> sqlite3.Connection:
    connection = sqlite3.connect(path)
    create_tables(connection)
    return connection


def each_new(kind: Any, place: Any) -> Callable[[], Any]:
    """A function that makes a store that nobody has touched yet, at each call."""
    numbers = count()
    return lambda: kind(place, f"stock{next(numbers)}")


def sql(path: str = ":memory:", name: str = "stock", guard: str | None = None) -> SqlFencedRegister:
    return SqlFencedRegister(database(path), name, guard)
