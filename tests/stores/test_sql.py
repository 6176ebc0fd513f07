"""What the store in SQL owes beyond the contract: transactions, races, drivers; and the article's statements."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest

from labkit.stores import SqlFencedRegister
from labkit.stores.interleavings import Holder
from labkit.stores.sql import mark
from tests.stores.places import A, B, database, sql

# -- all or nothing ----------------------------------------------------------------------------------------------------


def orders() -> sqlite3.Connection:
    db = database()
    db.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, status TEXT, token INTEGER)")
    db.execute("INSERT INTO orders VALUES (1, 'UNPAID', 0)")
    db.commit()
    return db


def status(db: sqlite3.Connection) -> Any:
    return db.execute("SELECT status FROM orders WHERE id = 1").fetchone()[0]


PAY = ("UPDATE orders SET status = ? WHERE id = ?", ("PAID", 1))


def test_statements_of_ones_own_run_under_the_guard() -> None:
    db = orders()
    store = SqlFencedRegister(db, "order-1")
    store.register(A)
    assert store.run([PAY], A) is True
    store.register(B)
    assert store.run([("DELETE FROM orders", ())], A) is False
    assert (status(db), db.in_transaction) == ("PAID", False)


def test_where_one_statement_raises_none_has_happened() -> None:
    db = orders()
    store = SqlFencedRegister(db, "order-1")
    store.register(A)
    with pytest.raises(sqlite3.OperationalError):
        store.run([PAY, ("no SQL", ())], A)
    assert (status(db), db.in_transaction) == ("UNPAID", False)


def test_no_call_leaves_a_transaction_open() -> None:
    store = sql()
    for call in (lambda: store.register(A), lambda: store.read(), lambda: store.write(1, A), lambda: store.write(1, B)):
        call()
        assert not store.connection.in_transaction


def test_no_registration_slips_in_between_comparing_and_writing(tmp_path: Path) -> None:
    db, other = database(str(tmp_path / "db")), sqlite3.connect(tmp_path / "db", timeout=0)
    store, rival = SqlFencedRegister(db, "stock"), SqlFencedRegister(other, "stock")
    store.register(A)
    compare, told = store._is_ours, list[str]()

    def slow(*args: Any) -> bool:
        ours = compare(*args)
        try:
            rival.register(B)  # the guard has been compared, and nothing is written yet
        except sqlite3.OperationalError as error:
            told.append(str(error))
        return ours

    store._is_ours = slow  # type: ignore[method-assign]
    assert (store.write(1, A), told) == (True, ["database is locked"])


def test_two_who_make_the_guard_at_once_both_get_an_answer(tmp_path: Path) -> None:
    store, rival = sql(str(tmp_path / "db")), sql(str(tmp_path / "db"))
    do, seen = store._do, list[bool]()

    def slow(cursor: Any, statement: str, *parameters: Any) -> Any:
        if statement.startswith("INSERT INTO guard"):
            seen.append(rival.register(B))  # between the look and the insert
        return do(cursor, statement, *parameters)

    store._do = slow  # type: ignore[method-assign]
    assert (store.register(A), seen) == (False, [True])


def test_of_racing_holders_the_highest_token_stays(tmp_path: Path) -> None:
    path = str(tmp_path / "db")
    database(path).close()
    accepted = list[int]()

    def race(fence: int) -> None:
        store = SqlFencedRegister(sqlite3.connect(path, timeout=60), "stock")
        if store.register(Holder(f"holder {fence}", fence)):
            accepted.append(fence)
        store.connection.close()

    threads = [threading.Thread(target=race, args=(fence,)) for fence in (3, 1, 4, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 4 in accepted
    last = database(path).execute("SELECT token, owner FROM guard").fetchall()
    assert last == [(4, "holder 4")]


# -- drivers -----------------------------------------------------------------------------------------------------------


class Cursor:
    """SQLite's cursor as a driver of the «%s» sort has it, which counts changed rows only: here, none ever."""

    rowcount = 0

    def __init__(self, cursor: sqlite3.Cursor) -> None:
        self.cursor = cursor
        self.fetchone, self.close = cursor.fetchone, cursor.close

    def execute(self, statement: str, parameters: Any = ()) -> None:
        assert "?" not in statement
        self.cursor.execute(statement.replace("%s", "?"), parameters)


class Connection:
    """A connection of the package `pymysql`, by its name, over SQLite."""

    def __init__(self, db: sqlite3.Connection, autocommit: bool = False) -> None:
        self.db, self._autocommit = db, autocommit
        self.commit, self.rollback = db.commit, db.rollback

    def cursor(self) -> Cursor:
        return Cursor(self.db.cursor())

    def get_autocommit(self) -> bool:
        return self._autocommit


Connection.__module__ = "pymysql.connections"


def test_e77_a_driver_that_counts_changed_rows_alone_refuses_nobody() -> None:
    store = SqlFencedRegister(Connection(database()), "stock")
    assert [store.register(A), store.register(A), store.write(5, A), store.write(5, A)] == [True] * 4
    assert [store.register(B), store.write(6, A), store.read()] == [True, False, 5]


@pytest.mark.parametrize(
    "connection",
    [sqlite3.connect(":memory:", isolation_level=None), Connection(database(), autocommit=True)],
    ids=["sqlite3", "pymysql"],
)
def test_a_connection_that_commits_by_itself_is_refused(connection: Any) -> None:
    with pytest.raises(ValueError, match="autocommit off"):
        SqlFencedRegister(connection, "stock")


def test_an_unknown_driver_is_named_with_those_that_are_known() -> None:
    with pytest.raises(ValueError, match="Connections of 'builtins' are not known here; known are those of sqlite3"):
        mark(object())


# -- the article's answers to its fourth question ----------------------------------------------------------------------


def test_e76_strictly_lower_refuses_the_holders_own_second_write() -> None:
    db = orders()
    strict = "UPDATE orders SET status = ?, token = ? WHERE id = 1 AND token < ?"
    assert [db.execute(strict, (word, 5, 5)).rowcount for word in ("PAID", "SHIPPED")] == [1, 0]
    store = SqlFencedRegister(db, "order-1")
    store.register(Holder("A", 5))
    ship = "UPDATE orders SET status = ? WHERE id = 1"
    assert [store.run([(ship, (word,))], Holder("A", 5)) for word in ("PAID", "SHIPPED")] == [True, True]


def test_e78_a_token_in_each_row_lets_a_late_holder_write_the_next_row() -> None:
    db = database()
    db.execute("CREATE TABLE part (name TEXT PRIMARY KEY, state TEXT, token INTEGER)")
    db.execute("INSERT INTO part VALUES ('order', '', 0), ('items', '', 0)")
    per_row = "UPDATE part SET state = ?, token = ? WHERE name = ? AND token <= ?"
    assert db.execute(per_row, ("B", 6, "order", 6)).rowcount == 1
    assert db.execute(per_row, ("A", 5, "items", 5)).rowcount == 1  # B has the lock, and its items are A's
    db.commit()
    store = SqlFencedRegister(db, "order-7")
    for holder in (Holder("A", 5), Holder("B", 6)):
        store.register(holder)
    assert store.run([("UPDATE part SET state = 'A' WHERE name = 'items'", ())], Holder("A", 5)) is False


def test_e79_a_table_of_tokens_that_wants_a_higher_one_refuses_the_second_transaction() -> None:
    db = database()
    db.execute("CREATE TABLE fencing_tokens (resource TEXT PRIMARY KEY, max_token INTEGER)")
    db.execute("INSERT INTO fencing_tokens VALUES ('order-1', 0)")

    def article(token: int) -> bool:
        (last,) = db.execute("SELECT max_token FROM fencing_tokens").fetchone()
        if token > last:
            db.execute("UPDATE fencing_tokens SET max_token = ?", (token,))
        return bool(token > last)

    assert [article(5), article(5)] == [True, False]
    db.commit()
    store = SqlFencedRegister(db, "order-1")
    store.register(Holder("A", 5))
    assert [store.write(1, Holder("A", 5)), store.write(2, Holder("A", 5))] == [True, True]


def test_e79_the_guard_is_there_before_anybody_locks_it() -> None:
    store = sql()
    store._make_the_guard()
    assert store.connection.execute("SELECT * FROM guard").fetchall() == [("stock", 0, "")]
