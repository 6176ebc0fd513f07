"""Reads rows by name, decides in Python with the write lock in its hands, and writes a dataclass back."""

import sqlite3
from contextlib import closing
from dataclasses import dataclass


@dataclass
class Task:
    id: int
    status: str
    worker: str | None
    version: int
    lease_until: float | None

    @classmethod
    def all(cls, db):
        with closing(db.cursor()) as cursor:
            cursor.row_factory = sqlite3.Row
            return [cls(**row) for row in cursor.execute("SELECT * FROM task")]

    def save(self, db):
        values = (self.status, self.worker, self.version, self.lease_until, self.id)
        db.execute("UPDATE task SET status = ?, worker = ?, version = ?, lease_until = ? WHERE id = ?", values)


def claim(db, worker, now, lease):
    with db:
        db.execute("BEGIN IMMEDIATE")
        for task in Task.all(db):
            match task:
                case Task(status="PENDING"):
                    task.status, task.worker, task.lease_until = "RUNNING", worker, now + lease
                    task.version += 1
                    task.save(db)
                    return task.id, task.version
    return None


def complete(db, claim, worker):
    with db:
        db.execute("BEGIN IMMEDIATE")
        for task in Task.all(db):
            if (task.id, task.version) == claim and task.worker == worker and task.status == "RUNNING":
                task.status = "DONE"
                task.save(db)
                return True
    return False


def reap(db, now):
    with db:
        db.execute("BEGIN IMMEDIATE")
        over = [task for task in Task.all(db) if task.status == "RUNNING" and task.lease_until <= now]
        for task in over:
            task.status, task.worker, task.lease_until = "PENDING", None, None
            task.version += 1
            task.save(db)
    return len(over)
