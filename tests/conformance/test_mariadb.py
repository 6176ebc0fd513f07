"""The checks of questions 3 and 4 on a real MariaDB: what is common SQL passes, and mistakes are seen there too."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from labkit.drills import onmariadb
from labkit.drills.mariastage import MariaStage
from labkit.live import mariadb
from labkit.live.mariadb import NO_DRIVER, NOT_FOUND, MariaDbNotFound, MariaDbServer, driver, find_mariadb
from labkit.sim import Stuck, World
from tests.conftest import missing

ROOT = Path(__file__).parent.parent.parent
GUARD = "CREATE TABLE guard(resource TEXT PRIMARY KEY, token INTEGER NOT NULL, owner TEXT NOT NULL);"
ONE_ROW = f"{GUARD} INSERT INTO guard VALUES ('stock', 1, 'A');"
TAKE = "UPDATE guard SET token = ? WHERE resource = ?"


@pytest.fixture(scope="module")
def server() -> Iterator[MariaDbServer]:
    """One real MariaDB for this file."""
    if find_mariadb() is None:
        missing(NOT_FOUND)
    try:
        driver()
    except MariaDbNotFound:
        missing(NO_DRIVER)
    with MariaDbServer() as running:
        yield running


def failing(server: MariaDbServer, question: str, path: str, only: str = "") -> dict[str, str]:
    """The checks that an answer does not pass there, with what is said of each."""
    rows = onmariadb.shown(server, question, ROOT / path, 5, only)
    return {row.check: row.message for row in rows if row.outcome != "pass"}


# -- answers -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("q3", "tests/right_answers/q3/optimistic_loop.py"),
        ("q4", "labkit/drills/q4/model.py"),
        ("q4", "tests/right_answers/q4/optimistic_loop.py"),
        ("q4", "tests/right_answers/q4/sql_that_all_know.py"),
    ],
)
def test_an_answer_in_sql_that_both_know_passes_every_check(server: MariaDbServer, question: str, path: str) -> None:
    assert failing(server, question, path) == {}


def test_what_the_model_answer_to_q3_does_without_returning_passes(server: MariaDbServer) -> None:
    failed = failing(server, "q3", "labkit/drills/q3/model.py")
    assert set(failed) == {"claim recorded", "one claim each", "every task found"}
    assert all("near 'RETURNING" in message for message in failed.values())


def test_a_write_lock_that_only_sqlite_knows_is_shown_as_an_error(server: MariaDbServer) -> None:
    failed = failing(server, "q4", "tests/right_answers/q4/write_lock_first.py", "atomic check")
    assert "ProgrammingError" in failed["atomic check"]


@pytest.mark.parametrize(
    ("path", "check"),
    [
        ("q4/looks_then_writes.py", "atomic check"),
        ("q4/number_without_owner.py", "late writer"),
        ("q4/any_guard_will_do.py", "one guard"),
        ("q4/refusal_left_open.py", "transaction closed"),
        ("q4/update_of_what_is_not_there.py", "order of tokens"),
        ("q3/looks_then_writes.py", "one claim each"),
    ],
)
def test_a_mistake_is_seen_there_as_well(server: MariaDbServer, path: str, check: str) -> None:
    assert check in failing(server, path[:2], f"tests/wrong_answers/{path}", check)


# -- the stage ---------------------------------------------------------------------------------------------------------


def played(server: MariaDbServer, schema: str, turns: str, **work: Any) -> tuple[dict[str, Any], Any, Any]:
    """What each worker's function returned, or the number of its error; the guard in the end, and the stage's log."""
    came: dict[str, Any] = {}

    def worker(me: Any) -> None:
        db = stage.connect(me)
        try:
            came[me.name] = work[me.name](db)
        except driver().Error as error:
            came[me.name] = error.args[0]

    with World() as world, MariaStage(server, world, schema, turns) as stage:
        for name in work:
            world.client(name).start(worker)
        world.run(until=600)
        return came, stage.rows("SELECT * FROM guard"), stage.log


def takes(token: int) -> Any:
    def work(db: Any) -> int:
        with db:
            return int(db.execute(TAKE, (token, "stock")).rowcount)

    return work


def test_who_meets_the_lock_of_another_waits_in_virtual_time(server: MariaDbServer) -> None:
    _, rows, log = played(server, ONE_ROW, "ABBBBBBBA", A=takes(2), B=takes(3))
    assert [row["worker"] for row in log] == ["A", "A", "B", "B"]
    assert [row["waited"] > 0 for row in log] == [False, False, True, False]
    assert rows == [("stock", 3, "A")]


def test_the_number_of_rows_is_that_of_those_found(server: MariaDbServer) -> None:
    came, _, _ = played(server, ONE_ROW, "", A=takes(1))
    assert came["A"] == 1


def test_a_transaction_opens_by_itself_before_a_write_and_not_before_a_look(server: MariaDbServer) -> None:
    def work(db: Any) -> list[bool]:
        seen = [db.in_transaction]
        for text in ("SELECT 1 FROM guard", "UPDATE guard SET token = 7"):
            db.execute(text).fetchall()
            seen.append(db.in_transaction)
        db.rollback()
        return [*seen, db.in_transaction]

    came, rows, _ = played(server, ONE_ROW, "", A=work)
    assert came["A"] == [False, False, True, False]
    assert rows == [("stock", 1, "A")]


def test_signs_of_the_driver_s_own_are_left_alone_in_a_text(server: MariaDbServer) -> None:
    def work(db: Any) -> Any:
        return db.execute("SELECT '?', 'a%s', ? LIKE '%x%'", ("axb",)).fetchone()

    came, _, _ = played(server, GUARD, "", A=work)
    assert came["A"] == ("?", "a%s", 1)


TWO_ROWS = f"{ONE_ROW} INSERT INTO guard VALUES ('price', 1, 'A');"
ADD = "UPDATE guard SET token = token + ? WHERE resource = ?"


def adds_to_both(db: Any) -> int:
    with db:
        return int(db.executemany(ADD, [(1, "price"), (1, "stock")]).rowcount)


def test_what_many_rows_have_changed_is_not_changed_again_when_one_has_to_wait(server: MariaDbServer) -> None:
    came, rows, log = played(server, TWO_ROWS, "ABBBBA", A=takes(7), B=adds_to_both)
    assert [(row["worker"], row["waited"] > 0) for row in log] == [
        ("A", False),
        ("A", False),
        ("B", True),
        ("B", False),
    ]
    assert sorted(row[:2] for row in rows) == [("price", 2), ("stock", 8)]
    assert came["B"] == 2


def test_a_change_of_a_table_waits_in_virtual_time(server: MariaDbServer) -> None:
    def alters(db: Any) -> str:
        db.execute("ALTER TABLE guard ADD COLUMN more INTEGER")
        return "done"

    came, rows, log = played(server, ONE_ROW, "ABBBBA", A=takes(2), B=alters)
    assert came == {"A": 1, "B": "done"}
    assert rows == [("stock", 2, "A", None)]
    assert [row["waited"] > 0 for row in log if row["worker"] == "B"] == [True]


def test_a_statement_that_blocks_real_time_is_left_behind_with_its_transaction(server: MariaDbServer) -> None:
    def sleeps(db: Any) -> None:
        db.execute(TAKE, (9, "stock"))
        db.execute("SELECT SLEEP(86400) FROM guard")

    def worker(me: Any) -> None:
        sleeps(stage.connect(me))

    with World(patience=0.5) as world, MariaStage(server, world, ONE_ROW) as stage:
        world.client("A").start(worker)
        with pytest.raises(Stuck, match="blocked real time"):
            world.run(until=600)
        assert stage.rows("SELECT token FROM guard") == [(1,)]
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SHOW DATABASES LIKE %s", (stage._name,))
        assert cursor.fetchall() == ()


def inserts_then_takes(db: Any) -> str:
    """What deadlocks on InnoDB: a failed INSERT keeps a lock on the row that it met, and so does the other's."""
    with db:
        try:
            db.execute("INSERT INTO guard VALUES ('stock', 5, 'B')")
        except db.IntegrityError:
            db.execute(TAKE, (5, "stock"))
    return "done"


def test_of_two_who_wait_for_each_other_one_is_rolled_back_and_told_of_a_deadlock(server: MariaDbServer) -> None:
    came, rows, _ = played(server, ONE_ROW, "ABABAB", A=inserts_then_takes, B=inserts_then_takes)
    assert sorted(map(str, came.values())) == ["1213", "done"]
    assert rows == [("stock", 5, "A")]


def test_so_does_the_server_itself_where_it_may_wait(server: MariaDbServer) -> None:
    with server.connect() as connection:
        connection.cursor().execute("CREATE DATABASE by_itself")
    stage = [server.connect("by_itself") for _ in "AB"]
    came: list[Any] = []

    def takes_by_itself(connection: Any) -> None:
        try:
            connection.cursor().execute("UPDATE guard SET token = 5")
            connection.commit()
            came.append("done")
        except driver().OperationalError as error:
            came.append(error.args[0])

    for text in filter(str.strip, ONE_ROW.replace("TEXT PRIMARY KEY", "VARCHAR(200) PRIMARY KEY").split(";")):
        stage[0].cursor().execute(text)
    for connection in stage:
        connection.begin()
        with pytest.raises(driver().IntegrityError):
            connection.cursor().execute("INSERT INTO guard VALUES ('stock', 5, 'B')")
    threads = [threading.Thread(target=takes_by_itself, args=(connection,)) for connection in stage]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    for connection in stage:
        connection.close()
    assert sorted(map(str, came)) == ["1213", "done"]


# -- the server --------------------------------------------------------------------------------------------------------


def test_the_server_and_its_folder_are_gone_at_the_end(server: MariaDbServer) -> None:
    with MariaDbServer() as another:
        folder = another.folder
        assert folder is not None
        assert folder.stat().st_mode & 0o077 == 0
    assert not folder.exists()


def test_a_machine_without_mariadb_is_told_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mariadb, "find_mariadb", lambda: None)
    with pytest.raises(MariaDbNotFound, match="apt install mariadb-server"):
        MariaDbServer().start()


def test_the_command_prints_a_line_for_each_check(server: MariaDbServer, capsys: pytest.CaptureFixture[str]) -> None:
    code = onmariadb.main(["q4", str(ROOT / "labkit/drills/q4/model.py"), "--seed", "3"])
    lines = capsys.readouterr().out.splitlines()
    assert code == 0
    assert lines[0] == "q4 on MariaDB: 10 of 10 checks, seed 3. There are no points for this."
    assert lines[1:3] == ["  ✓ order of tokens", "  ✓ repeated token"]


def test_an_exercise_in_which_nothing_is_written_is_not_attempted(server: MariaDbServer) -> None:
    failed = failing(server, "q4", "exercises/q4.ipynb")
    assert failed["order of tokens"] == "There is no register yet."
    assert len(failed) == 10


def test_a_file_that_is_no_answer_is_told_in_one_sentence(
    server: MariaDbServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert onmariadb.main(["q4", str(tmp_path / "nowhere.py")]) == 2
    assert "nowhere.py" in capsys.readouterr().err
