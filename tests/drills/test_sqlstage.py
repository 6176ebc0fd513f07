"""The SQL stage: real SQLite, statements of workers that interleave as the seed or the turns say, waiting in virtual
time, and errors where SQLite would not wait."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from typing import Any

import pytest

from labkit.drills.sqlstage import WAIT, SqlStage, Statement, orders
from labkit.sim import World

SCHEMA = "CREATE TABLE t(id INTEGER PRIMARY KEY, n INTEGER); INSERT INTO t VALUES(1, 0); INSERT INTO t VALUES(2, 0);"
Answer = Callable[..., Any]
Arm = Callable[[World, SqlStage], object]


def nothing(world: World, stage: SqlStage) -> None: ...


def played(answers: dict[str, Answer], seed: int = 0, turns: str = "", arm: Arm = nothing) -> Any:
    """Each worker calls its answer once; returns the calls by worker, the rows, and the log."""
    calls: dict[str, Any] = {}
    with World(seed=seed) as world, SqlStage(world, SCHEMA, turns) as stage:

        def worker(me: Any) -> None:
            calls[me.name] = stage.call(stage.connect(me), answers[me.name])

        for name in answers:
            world.client(name).start(worker)
        arm(world, stage)
        world.run(until=600)
        return calls, stage.rows("SELECT id, n FROM t ORDER BY id"), stage.log


def read_then_write(db: sqlite3.Connection) -> int:
    (n,) = db.execute("SELECT n FROM t WHERE id = 1").fetchone()
    with db:
        db.execute("UPDATE t SET n = ? WHERE id = 1", (n + 1,))
    return int(n) + 1


def write_locked(db: sqlite3.Connection) -> int:
    db.execute("BEGIN IMMEDIATE")
    return read_then_write(db)


def deferred(db: sqlite3.Connection) -> int:
    db.execute("BEGIN")
    return read_then_write(db)


def test_a_worker_holds_a_connection_of_sqlite3_with_its_defaults() -> None:
    def look(db: sqlite3.Connection) -> list[Any]:
        row = db.execute("INSERT INTO t VALUES (3, ?) ON CONFLICT DO NOTHING RETURNING id", (5,)).fetchone()
        seen = [isinstance(db, sqlite3.Connection), db.isolation_level, row, db.in_transaction]
        db.commit()
        return [*seen, db.in_transaction]

    calls, rows, _ = played({"A": look})
    assert calls["A"]["value"] == [True, "", [3], True, False]
    assert rows[2] == (3, 5)


def test_the_turns_say_whose_statement_is_next() -> None:
    calls, rows, log = played({"A": read_then_write, "B": read_then_write}, turns="ABBBAA")
    assert "".join(row["worker"] for row in log) == "ABBBAA"
    assert rows[0] == (1, 1), "both have read 0"
    assert calls["A"]["value"] == calls["B"]["value"] == 1


def test_orders_are_all_the_ways_of_two_workers() -> None:
    found = {"".join(order) for order in orders("A", 2, "B", 1)}
    assert found == {"AAB", "ABA", "BAA"}


def test_the_same_seed_has_the_same_order_and_other_seeds_have_others() -> None:
    def order(seed: int) -> str:
        return "".join(row["worker"] for row in played({"A": read_then_write, "B": read_then_write}, seed)[2])

    assert order(4) == order(4)
    assert len({order(seed) for seed in range(1, 13)}) > 3


@pytest.mark.parametrize("turns", ["AABBABAB", "ABABABAB", "BAAABBBA", ""])
def test_who_takes_the_write_lock_first_loses_no_update(turns: str) -> None:
    calls, rows, _ = played({"A": write_locked, "B": write_locked}, turns=turns)
    assert rows[0] == (1, 2)
    assert {calls["A"]["value"], calls["B"]["value"]} == {1, 2}


def test_who_waits_for_a_lock_waits_in_virtual_time() -> None:
    def slow(db: sqlite3.Connection) -> None:
        with db:
            db.execute("UPDATE t SET n = 7")
            time.sleep(30)

    _, rows, log = played({"A": slow, "B": write_locked}, turns="AB")
    assert rows[0] == (1, 8)
    assert 29 < max(row["waited"] for row in log) < 31


def test_waiting_has_an_end() -> None:
    def for_ever(db: sqlite3.Connection) -> None:
        db.execute("BEGIN IMMEDIATE")
        time.sleep(3 * WAIT)

    calls, _, _ = played({"A": for_ever, "B": write_locked}, turns="AB")
    assert "database is locked" in calls["B"]["message"]


def test_reading_first_and_writing_later_in_one_transaction_is_an_error_at_once() -> None:
    calls, rows, log = played({"A": deferred, "B": deferred}, turns="AABBABAB")
    assert "database is locked" in calls["B"]["message"]
    assert calls["A"]["value"] == 1 and rows[0] == (1, 1)
    assert [row["waited"] for row in log if row["outcome"] != "ok"] == [0]


def test_a_query_that_is_not_fetched_to_its_end_is_reading_as_well() -> None:
    def leaves_rows(db: sqlite3.Connection) -> None:
        rows = db.execute("SELECT id FROM t")
        rows.fetchone()
        with db:
            db.execute("UPDATE t SET n = n + 1 WHERE id = 1")

    calls, _, log = played({"A": leaves_rows, "B": leaves_rows}, turns="ABABAB")
    assert "database is locked" in calls["B"]["message"]
    assert [row["waited"] for row in log if row["outcome"] != "ok"] == [0]
    assert not calls["A"]["raised"]


def test_a_commit_waits_for_those_who_read() -> None:
    def reads(db: sqlite3.Connection) -> Any:
        db.execute("BEGIN")
        first = db.execute("SELECT n FROM t WHERE id = 1").fetchone()
        time.sleep(20)
        again = db.execute("SELECT n FROM t WHERE id = 1").fetchone()
        db.commit()
        return first == again

    calls, rows, log = played({"A": reads, "B": write_locked}, turns="AABBBB")
    assert calls["A"]["value"] is True and not calls["B"]["raised"]
    assert rows[0] == (1, 1)
    assert [row["text"] for row in log if row["waited"] > 10] == ["COMMIT"]


@pytest.mark.parametrize("turns", ["AB", "BA"])
def test_a_script_is_as_many_statements_and_may_hold_a_transaction(turns: str) -> None:
    def script(db: sqlite3.Connection) -> None:
        db.executescript("BEGIN IMMEDIATE; UPDATE t SET n = n + 1; -- one; more\nUPDATE t SET n = n * 2; COMMIT")

    _, rows, log = played({"A": script, "B": script}, turns=turns)
    assert rows[0] == (1, 6)
    assert len(log) == 8


def test_many_rows_at_once_are_one_statement() -> None:
    def many(db: sqlite3.Connection) -> int:
        with db:
            return db.executemany("INSERT INTO t VALUES (?, 0)", ((n,) for n in (7, 8))).rowcount

    calls, rows, log = played({"A": many, "B": write_locked}, turns="BBAABB")
    assert calls["A"]["value"] == 2 and len(rows) == 4
    assert [row["text"] for row in log if row["worker"] == "A"] == ["INSERT INTO t VALUES (?, 0)", "COMMIT"]


def test_with_rolls_back_when_its_body_raises() -> None:
    def fails(db: sqlite3.Connection) -> None:
        with db:
            db.execute("UPDATE t SET n = 9")
            raise KeyError("as if")

    calls, rows, _ = played({"A": fails})
    assert calls["A"]["raised"] == "KeyError" and not calls["A"]["open"]
    assert rows[0] == (1, 0)


def test_a_transaction_left_open_is_told_and_rolled_back() -> None:
    with World() as world, SqlStage(world, SCHEMA) as stage:

        def worker(me: Any) -> None:
            left = stage.call(stage.connect(me), lambda db: db.execute("UPDATE t SET n = 9").rowcount)
            assert left["open"] and left["value"] == 2
            assert not stage.call(stage.connect(me), write_locked)["raised"]

        world.client("A").start(worker)
        world.run()
        assert stage.rows("SELECT n FROM t WHERE id = 1") == [(1,)]
        assert max(row["waited"] for row in stage.log) == 0


def test_a_worker_that_crashes_leaves_its_work_undone_and_its_lock_free() -> None:
    def crash(world: World, stage: SqlStage) -> None:
        def strike(statement: Statement) -> None:
            if statement == ("A", 4, "COMMIT"):
                world.crash("A")

        stage.triggers.append(strike)

    calls, rows, log = played({"A": write_locked, "B": write_locked}, turns="AAABAABBB", arm=crash)
    assert "A" not in calls and calls["B"]["value"] == 1
    assert rows[0] == (1, 1)
    assert max(row["waited"] for row in log) < 1


def test_a_worker_can_be_paused_between_two_statements() -> None:
    def pause(world: World, stage: SqlStage) -> None:
        stage.triggers.append(lambda s: world.pause("A", 10) if s.worker == "A" and s.nth == 2 else None)

    calls, rows, _ = played({"A": read_then_write, "B": read_then_write}, arm=pause)
    assert calls["A"]["ended"] > 10 > calls["B"]["ended"]
    assert rows[0] == (1, 1)


def test_the_stage_can_be_changed_from_outside() -> None:
    with World() as world, SqlStage(world, SCHEMA) as stage:
        stage.change("UPDATE t SET n = ? WHERE id = 2", 5)
        assert stage.rows("SELECT n FROM t WHERE id = ?", 2) == [(5,)]


def test_a_new_round_counts_the_turns_from_its_own_beginning() -> None:
    with World() as world, SqlStage(world, SCHEMA) as stage:

        def worker(me: Any) -> None:
            db = stage.connect(me)
            for number, turns in enumerate(("ABBBAA", "BAAABB")):
                time.sleep(1000 * (number + 1) - world.now)
                if stage.turns != turns:
                    stage.new_round(turns)
                stage.call(db, read_then_write)

        for name in "AB":
            world.client(name).start(worker)
        world.run(until=9999)
        assert "".join(row["worker"] for row in stage.log) == "ABBBAABAAABB"
        assert stage.rows("SELECT n FROM t WHERE id = 1") == [(2,)]
