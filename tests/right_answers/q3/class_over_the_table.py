"""A class that holds the connection, and a context manager for the transaction."""

from contextlib import contextmanager


class Tasks:
    def __init__(self, db):
        self.db = db

    @contextmanager
    def locked(self):
        cursor = self.db.cursor()
        cursor.execute("BEGIN IMMEDIATE")
        try:
            yield cursor
        except BaseException:
            self.db.rollback()
            raise
        else:
            self.db.commit()
        finally:
            cursor.close()

    def take(self, worker, until):
        with self.locked() as cursor:
            cursor.execute("SELECT id FROM task WHERE status = 'PENDING' ORDER BY random() LIMIT 1")
            found = cursor.fetchone()
            if not found:
                return None
            values = {"worker": worker, "until": until, "id": found[0]}
            cursor.execute(
                "UPDATE task SET status = 'RUNNING', worker = :worker, version = version + 1, lease_until = :until "
                "WHERE id = :id",
                values,
            )
            return cursor.execute("SELECT id, version FROM task WHERE id = :id", values).fetchone()

    def finish(self, number, version, worker):
        with self.locked() as cursor:
            cursor.execute(
                "UPDATE task SET status = 'DONE' WHERE (id, version, worker, status) = (?, ?, ?, 'RUNNING')",
                (number, version, worker),
            )
            return bool(cursor.rowcount)

    def give_back(self, now):
        with self.locked() as cursor:
            cursor.execute(
                "UPDATE task SET status = 'PENDING', worker = NULL, lease_until = NULL "
                "WHERE status = 'RUNNING' AND NOT lease_until > ?",
                (now,),
            )
            return cursor.execute("SELECT changes()").fetchone()[0]


def claim(db, worker, now, lease):
    return Tasks(db).take(worker, now + lease)


def complete(db, claim, worker):
    return Tasks(db).finish(*claim, worker)


def reap(db, now):
    return Tasks(db).give_back(now)
