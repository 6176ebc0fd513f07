"""A class that holds the connection, and a context manager for the transaction."""

from contextlib import contextmanager


class Guard:
    def __init__(self, db, resource, token, owner):
        self.db, self.resource, self.pair = db, resource, (token, owner)

    @contextmanager
    def transaction(self):
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

    def held(self, cursor):
        cursor.execute("SELECT token, owner FROM guard WHERE resource = ?", (self.resource,))
        return cursor.fetchone()

    def take(self):
        with self.transaction() as cursor:
            before = self.held(cursor)
            if before is None or before[0] < self.pair[0]:
                cursor.execute("REPLACE INTO guard VALUES (?, ?, ?)", (self.resource, *self.pair))
            return self.held(cursor) == self.pair

    def run(self, statements):
        with self.transaction() as cursor:
            mine = self.held(cursor) == self.pair
            for statement in statements if mine else []:
                cursor.execute(*statement)
            return mine


def register(db, resource, token, owner):
    return Guard(db, resource, token, owner).take()


def guarded(db, resource, token, owner, statements):
    return Guard(db, resource, token, owner).run(statements)
