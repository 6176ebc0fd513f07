"""The model answer to q3, cut from its solution by tools/exercises.py; it is not edited by hand."""

from sqlite3 import Connection


def claim(db: Connection, worker: str, now: float, lease: float) -> tuple[int, int] | None:
    """Takes a PENDING task for `lease` seconds; (id, version), or None if there is none left."""
    with db:
        taken: tuple[int, int] | None = db.execute(
            "UPDATE task SET status = 'RUNNING', worker = ?, version = version + 1, lease_until = ? "
            "WHERE id = (SELECT id FROM task WHERE status = 'PENDING' LIMIT 1) RETURNING id, version",
            (worker, now + lease),
        ).fetchone()
    return taken


def complete(db: Connection, claim: tuple[int, int], worker: str) -> bool:
    """Makes the task DONE, if this claim on it still holds; whether it did."""
    with db:
        done = db.execute(
            "UPDATE task SET status = 'DONE' WHERE id = ? AND version = ? AND worker = ? AND status = 'RUNNING'",
            (*claim, worker),
        )
    return done.rowcount == 1


def reap(db: Connection, now: float) -> int:
    """Gives back each task whose lease is over; how many."""
    with db:
        returned = db.execute(
            "UPDATE task SET status = 'PENDING', worker = NULL, lease_until = NULL "
            "WHERE status = 'RUNNING' AND lease_until <= ?",
            (now,),
        )
    return returned.rowcount
