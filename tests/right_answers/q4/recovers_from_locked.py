"""Reads first and writes later in one transaction, and begins anew when the database is locked."""

import random
import sqlite3
import time


def again_and_again(work, db):
    while True:
        try:
            db.execute("BEGIN")
            result = work()
            db.commit()
            return result
        except sqlite3.OperationalError as error:
            db.rollback()
            if "locked" not in str(error):
                raise
            time.sleep(random.uniform(0.001, 0.02))
        except BaseException:
            db.rollback()
            raise


def held(db, resource):
    return db.execute("SELECT token, owner FROM guard WHERE resource = ?", (resource,)).fetchone()


def register(db, resource, token, owner):
    def work():
        row = held(db, resource)
        if row is None:
            db.execute("INSERT INTO guard VALUES (?, ?, ?)", (resource, token, owner))
        elif row[0] < token:
            db.execute("UPDATE guard SET token = ?, owner = ? WHERE resource = ?", (token, owner, resource))
        return row is None or row[0] < token or row == (token, owner)

    return again_and_again(work, db)


def guarded(db, resource, token, owner, statements):
    def work():
        if held(db, resource) != (token, owner):
            return False
        for sql, params in statements:
            db.execute(sql, params)
        return True

    return again_and_again(work, db)
