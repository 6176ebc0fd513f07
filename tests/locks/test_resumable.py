"""Resumable work: who may take a task over, from where, and what a worker who is late cannot do."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from labkit.locks import Lease, LeaseLost
from labkit.locks.resumable import LARGEST, TABLE, Progress, commit_step, take_over
from tests.locks.tasks import FAR, PAST, OneLock, connect, done, effects, record, robbed, taken


@pytest.fixture
def db(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    connection = connect(tmp_path)
    connection.execute(TABLE)
    connection.execute("CREATE TABLE effects (what TEXT UNIQUE)")
    connection.commit()
    yield connection
    connection.close()


@pytest.fixture
def other(db: sqlite3.Connection, tmp_path: Path) -> Iterator[sqlite3.Connection]:
    connection = connect(tmp_path)
    yield connection
    connection.close()


@pytest.fixture
def lock() -> OneLock:
    return OneLock()


# -- take over ---------------------------------------------------------------------------------------------------------


def test_the_first_time_a_task_begins_at_its_beginning(db: sqlite3.Connection, lock: OneLock) -> None:
    progress = taken(db, lock)
    assert progress[:5] == ("task", "A", 1, 0, "")
    assert progress.lease.token == lock.holder
    assert record(db) == [("task", 1, "A", 0, "")]


def test_the_next_holder_goes_on_where_the_last_one_has_committed(db: sqlite3.Connection, lock: OneLock) -> None:
    _, successor = robbed(db, lock)
    assert successor[:5] == ("task", "B", 2, 1, "after 1")


def test_a_worker_may_take_its_own_task_over(db: sqlite3.Connection, lock: OneLock) -> None:
    taken(db, lock)
    lock.expire()
    assert taken(db, lock, "A").epoch == 2


def test_tasks_have_records_of_their_own(db: sqlite3.Connection, lock: OneLock) -> None:
    done(db, taken(db, lock), "1")
    assert take_over(db, OneLock(), "another", "B") == ("another", "B", 1, 0, "", Lease("task", "grant 1", None, FAR))


@pytest.mark.parametrize("steps", [0, 17])
def test_a_live_holder_is_never_robbed_however_far_it_is(db: sqlite3.Connection, lock: OneLock, steps: int) -> None:
    progress: Progress | None = taken(db, lock)
    for n in range(steps):
        assert progress is not None
        progress = done(db, progress, str(n))
    before = record(db)
    assert take_over(db, lock, "task", "B") is None
    assert record(db) == before


def test_a_grant_that_comes_too_late_changes_nothing_and_is_given_back(db: sqlite3.Connection) -> None:
    lock = OneLock(deadline=PAST)
    assert take_over(db, lock, "task", "A") is None
    assert (record(db), lock.holder, db.in_transaction) == ([], "", False)


@pytest.mark.parametrize("error", [LeaseLost("expired", "task"), ConnectionError("lost")])
def test_that_such_a_grant_cannot_be_given_back_is_no_error(db: sqlite3.Connection, error: Exception) -> None:
    lock = OneLock(deadline=PAST)
    lock.error = error
    assert take_over(db, lock, "task", "A") is None


def test_errors_of_the_lock_get_out(db: sqlite3.Connection) -> None:
    class Unreachable(OneLock):
        def acquire(self, timeout: float | None = None) -> Lease | None:
            raise ConnectionError("unreachable")

    with pytest.raises(ConnectionError, match="unreachable"):
        take_over(db, Unreachable(), "task", "A")


def test_errors_of_the_database_get_out_and_the_lock_is_given_back(lock: OneLock) -> None:
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        take_over(sqlite3.connect(":memory:"), lock, "task", "A")
    assert (lock.grants, lock.holder) == (1, "")


def test_an_error_of_the_release_does_not_hide_the_databases(lock: OneLock) -> None:
    lock.error = ConnectionError("lost")
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        take_over(sqlite3.connect(":memory:"), lock, "task", "A")


def test_what_is_read_at_a_take_over_is_final(db: sqlite3.Connection, other: sqlite3.Connection, lock: OneLock) -> None:
    """A waits for the database while B takes over: whichever comes first, B has read it, or A is refused."""
    late = taken(db, lock)
    lock.expire()
    other.execute("BEGIN IMMEDIATE")
    answers = list[Progress | None]()
    thread = threading.Thread(target=lambda: answers.append(done(db, late, "1")))
    thread.start()
    other.execute("UPDATE progress SET epoch = epoch + 1, worker = 'B'")
    other.commit()
    thread.join()
    assert (answers, effects(other)) == ([None], [])


# -- commit a step -----------------------------------------------------------------------------------------------------


def test_a_step_is_committed_with_its_effects(db: sqlite3.Connection, other: sqlite3.Connection, lock: OneLock) -> None:
    first = taken(db, lock)
    second = done(db, first, "1")
    assert second == first._replace(step=1, data="after 1")
    assert (record(other), effects(other)) == ([("task", 1, "A", 1, "after 1")], ["1"])


def test_a_zombies_step_is_refused_with_its_effects(db: sqlite3.Connection, lock: OneLock) -> None:
    zombie, _ = robbed(db, lock)
    before = record(db)
    assert done(db, zombie, "2") is None
    assert (record(db), effects(db), db.in_transaction) == (before, ["1"], False)


def test_a_zombie_is_refused_also_where_its_own_worker_has_the_task_anew(db: sqlite3.Connection, lock: OneLock) -> None:
    zombie = taken(db, lock)
    lock.expire()
    taken(db, lock, "A")
    assert done(db, zombie, "1") is None


@pytest.mark.parametrize("differs", [{"epoch": 2}, {"worker": "B"}, {"step": 1}, {"task": "another"}])
def test_each_part_of_the_claim_counts(db: sqlite3.Connection, lock: OneLock, differs: dict[str, Any]) -> None:
    assert done(db, taken(db, lock)._replace(**differs), "1") is None
    assert effects(db) == []


def test_the_same_step_passed_twice_has_its_effect_once(db: sqlite3.Connection, lock: OneLock) -> None:
    progress = taken(db, lock)
    first = commit_step(db, progress, "x", [("INSERT INTO effects VALUES ('a')", ())])
    again = commit_step(db, progress, "x", [("INSERT INTO effects VALUES ('b')", ())])
    assert (first is not None, again, effects(db)) == (True, None, ["a"])


def test_who_is_late_but_not_succeeded_may_commit(db: sqlite3.Connection, lock: OneLock) -> None:
    progress = taken(db, lock)
    lock.expire()
    assert done(db, progress._replace(lease=Lease("task", "old", None, PAST)), "1") is not None


def test_of_a_step_whose_statement_raises_nothing_stays(
    db: sqlite3.Connection, other: sqlite3.Connection, lock: OneLock
) -> None:
    progress = taken(db, lock)
    with pytest.raises(sqlite3.OperationalError):
        commit_step(db, progress, "x", [("INSERT INTO effects VALUES ('a')", ()), ("no SQL", ())])
    assert (record(other), effects(other), db.in_transaction) == ([("task", 1, "A", 0, "")], [], False)
    assert done(db, progress, "1") is not None


def test_statements_are_not_touched_where_the_step_is_refused(db: sqlite3.Connection, lock: OneLock) -> None:
    zombie, _ = robbed(db, lock)
    assert commit_step(db, zombie, "x", (pytest.fail("a statement was asked for") for _ in range(1))) is None


@pytest.mark.parametrize("data", ["x" * LARGEST, "字" * (LARGEST // 3)])
def test_data_may_be_as_large_as_the_limit(db: sqlite3.Connection, lock: OneLock, data: str) -> None:
    progress = commit_step(db, taken(db, lock), data, [])
    assert progress is not None
    assert progress.data == data


@pytest.mark.parametrize(("data", "size"), [("x" * 10_001, 10_001), ("字" * 3_334, 10_002)])
def test_more_is_refused_before_the_database_is_touched(
    db: sqlite3.Connection, lock: OneLock, data: str, size: int
) -> None:
    progress = taken(db, lock)
    with pytest.raises(ValueError, match=rf"{size} bytes and may have 10000"):
        commit_step(db, progress, data, [("INSERT INTO effects VALUES ('a')", ())])
    assert (effects(db), db.in_transaction) == ([], False)


def test_a_connection_that_commits_by_itself_is_refused(lock: OneLock) -> None:
    db = sqlite3.connect(":memory:", isolation_level=None)
    with pytest.raises(ValueError, match="commits each statement by itself"):
        take_over(db, lock, "task", "A")
    with pytest.raises(ValueError, match="commits each statement by itself"):
        commit_step(db, Progress("task", "A", 1, 0, "", Lease("task", "t", None, FAR)), "", [])
    assert lock.grants == 0


def test_a_transaction_of_the_callers_is_neither_committed_nor_rolled_back(
    db: sqlite3.Connection, other: sqlite3.Connection, lock: OneLock
) -> None:
    db.execute("INSERT INTO effects VALUES ('the caller''s')")
    with pytest.raises(ValueError, match="has a transaction open"):
        take_over(db, lock, "task", "A")
    with pytest.raises(ValueError, match="has a transaction open"):
        commit_step(db, Progress("task", "A", 1, 0, "", Lease("task", "t", None, FAR)), "", [])
    assert (lock.grants, db.in_transaction, effects(other)) == (0, True, [])
    db.rollback()
    assert taken(db, lock).epoch == 1


def test_where_a_transaction_is_always_open_that_is_no_reason(db: sqlite3.Connection, lock: OneLock) -> None:
    class AlwaysOpen:
        """As `sqlite3.connect(…, autocommit=False)` gives it from Python 3.12 on."""

        autocommit, in_transaction = False, True

        def __getattr__(self, name: str) -> Any:
            return getattr(db, name)

    assert take_over(AlwaysOpen(), lock, "task", "A") is not None


def test_a_commit_that_fails_leaves_no_transaction_open(
    db: sqlite3.Connection, other: sqlite3.Connection, lock: OneLock
) -> None:
    progress = taken(db, lock)
    db.execute("PRAGMA busy_timeout = 0")
    other.execute("BEGIN")
    other.execute("SELECT * FROM progress").fetchall()  # a reader, for whom a commit has to wait
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        done(db, progress, "1")
    assert not db.in_transaction
    other.commit()
    assert done(db, progress, "1") is not None
