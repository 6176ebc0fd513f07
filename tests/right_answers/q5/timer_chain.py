"""A chain of Timers renews; a lock guards the newest lease, and the chain is cut and waited for before the release."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import Any

from redis.exceptions import ConnectionError, TimeoutError

from labkit import Lease
from labkit.locks import LeaseLost


@dataclass
class Chain:
    lock: Any
    lease: Lease
    over: bool = False
    lost: bool = False
    guard: threading.RLock = field(default_factory=threading.RLock)
    timer: threading.Timer | None = None

    def start(self) -> Chain:
        with self.guard:
            if not self.over:
                self.timer = threading.Timer(self.lock.ttl / 4, self.beat)
                self.timer.daemon = True
                self.timer.start()
        return self

    def beat(self) -> None:
        with self.guard:
            if self.over:
                return
            try:
                self.lease = self.lock.extend(self.lease)
            except LeaseLost:
                self.lost = self.over = True
            except (ConnectionError, TimeoutError):
                pass
        self.start()

    def good(self) -> bool:
        return not self.lost and time.monotonic() < self.lease.deadline

    def cut(self) -> None:
        with self.guard:
            self.over = True
            if self.timer:
                self.timer.cancel()


def run(lock, steps, write, stopping):
    chain = None
    while chain is None:
        if stopping.is_set():
            return "stopped"
        try:
            lease = lock.acquire(lock.ttl / 6)
            chain = Chain(lock, lease).start() if lease else None
        except (ConnectionError, TimeoutError):
            stopping.wait(lock.ttl / 6)
    outcome = "done"
    for step in steps:
        if stopping.is_set():
            outcome = "stopped"
        elif not chain.good():
            outcome = "lost"
        else:
            value = step()
            if chain.good():
                write(value)
                continue
            outcome = "lost"
        break
    chain.cut()
    try:
        lock.release(chain.lease)
    except (LeaseLost, ConnectionError, TimeoutError) as error:
        print("The lock was not given back:", error)
    return outcome
