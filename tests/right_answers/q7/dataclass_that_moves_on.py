"""A dataclass of its own, which knows how to move on; looks again inside of the transaction that a write has opened."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from labkit import Lease


@dataclass(frozen=True)
class Progress:
    task: str
    worker: str
    epoch: int
    step: int
    data: str
    lease: Lease

    @property
    def key(self) -> tuple[str, int, str, int]:
        return self.task, self.epoch, self.worker, self.step

    def moved(self, data: str) -> Progress:
        return replace(self, step=self.step + 1, data=data)


def take_over(db: Any, lock: Any, task: str, worker: str) -> Progress | None:
    lease = lock.acquire(0)
    if lease is None or not lease.remaining():
        return None
    with db:
        db.execute("INSERT INTO progress VALUES (?, 0, '', 0, '') ON CONFLICT DO NOTHING", (task,))
        db.execute("UPDATE progress SET epoch = epoch + 1, worker = ? WHERE task = ?", (worker, task))
        ((epoch, step, data),) = db.execute("SELECT epoch, step, data FROM progress WHERE task = ?", (task,)).fetchall()
    return Progress(task=task, worker=worker, epoch=epoch, step=step, data=data, lease=lease)


def commit_step(db: Any, progress: Progress, data: str, statements: list[Any]) -> Progress | None:
    size = len(bytes(data, "utf-8"))
    if size > 10_000:
        raise ValueError(f"data: {size} bytes > limit 10000")
    with db:
        db.execute("UPDATE progress SET worker = worker WHERE task = ?", (progress.task,))
        found = db.execute("SELECT task, epoch, worker, step FROM progress WHERE task = ?", (progress.task,)).fetchone()
        if found != progress.key:
            return None
        for sql, params in statements:
            db.execute(sql, params)
        db.execute("UPDATE progress SET step = step + 1, data = ? WHERE task = ?", (data, progress.task))
    return progress.moved(data)
