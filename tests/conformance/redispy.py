"""redis-py's own Lock behind the calls of this suite, so that it is measured by the same tests.

The adapter decides nothing: each lease has its token put into a Lock object of its own, and «not owned» becomes a loss
without a reason, because that class does not tell an expired lease from a stolen one.
"""

from __future__ import annotations

import time
from typing import Any

from redis.exceptions import LockNotOwnedError
from redis.lock import Lock

from labkit.locks import Lease, LeaseLost, waiting


class RedisPyLock:
    """As SafeLock, by redis.lock.Lock."""

    def __init__(self, client: Any, name: str, ttl: float = 10.0, poll: float = 0.1) -> None:
        self.client, self.name, self.ttl, self.poll = client, name, ttl, poll
        self._lock(None)

    def try_acquire(self) -> Lease | None:
        return self._acquire(blocking=False)

    def acquire(self, timeout: float | None = None) -> Lease | None:
        return self._acquire(blocking=True, blocking_timeout=timeout)

    def extend(self, lease: Lease) -> Lease:
        sent = time.monotonic()
        try:
            self._lock(lease.token).reacquire()
        except LockNotOwnedError as error:
            raise LeaseLost("lost", self.name) from error
        return Lease(self.name, lease.token, None, sent + self.ttl)

    def release(self, lease: Lease) -> None:
        try:
            self._lock(lease.token).release()
        except LockNotOwnedError as error:
            raise LeaseLost("lost", self.name) from error

    hold = waiting.hold

    def _acquire(self, **how: Any) -> Lease | None:
        lock, sent = self._lock(None), time.monotonic()
        if not lock.acquire(**how):
            return None
        return Lease(self.name, lock.local.token.decode(), None, sent + self.ttl)

    def _lock(self, token: str | None) -> Lock:
        lock = Lock(self.client, self.name, timeout=self.ttl, sleep=self.poll, thread_local=False)
        lock.local.token = None if token is None else token.encode()
        return lock
