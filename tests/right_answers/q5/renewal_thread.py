"""A thread renews every third of a TTL; the work looks at the newest deadline and at what the thread was told."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from typing import Any

from redis.exceptions import RedisError

from labkit import Lease
from labkit.locks import LeaseLost


class Keeper:
    def __init__(self, lock: Any, lease: Lease) -> None:
        self.lock, self.lease, self.lost = lock, lease, False
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.renew, daemon=True)
        self.thread.start()

    def renew(self) -> None:
        while not self.over.wait(self.lock.ttl / 3):
            try:
                self.lease = self.lock.extend(self.lease)
            except LeaseLost:
                self.lost = True
                return
            except RedisError:
                continue

    def holds(self) -> bool:
        return not self.lost and time.monotonic() < self.lease.deadline

    def end(self) -> None:
        self.over.set()
        self.thread.join()


def run(lock, steps, write, stopping):
    while not stopping.is_set():
        try:
            lease = lock.acquire(lock.ttl / 10)
        except RedisError:
            stopping.wait(lock.ttl / 50)
            continue
        if lease is not None and time.monotonic() < lease.deadline:
            return work(lock, lease, steps, write, stopping)
    return "stopped"


def work(lock, lease, steps, write, stopping):
    keeper = Keeper(lock, lease)
    try:
        for step in steps:
            if stopping.is_set():
                return "stopped"
            if not keeper.holds():
                return "lost"
            value = step()
            if not keeper.holds():
                return "lost"
            write(value)
        return "done"
    finally:
        keeper.end()
        with suppress(LeaseLost, RedisError):
            lock.release(keeper.lease)
