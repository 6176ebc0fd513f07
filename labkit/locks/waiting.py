"""Waiting for a lock, and holding it: the same for all locks, so that their own files show their protocol alone."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Protocol

from .lease import Lease, NotAcquired, check_timeout


class AnyLock(Protocol):
    """What `hold` asks of a lock."""

    name: str

    def acquire(self, timeout: float | None = None) -> Lease | None: ...

    def release(self, lease: Lease) -> None: ...


def poll(try_acquire: Callable[[], Lease | None], timeout: float | None, every: float) -> Lease | None:
    """Tries until it has a lease or `timeout` seconds have passed (0: one try, None: for ever). The last pause is cut
    to what is left, so that waiting outlasts its time-out by no more than one call."""
    timeout = check_timeout(timeout)
    end = None if timeout is None else time.monotonic() + timeout
    while (lease := try_acquire()) is None:
        pause = every * random.uniform(0.5, 1.0)  # so that waiters do not march in step
        if end is not None:
            pause = min(pause, end - time.monotonic())
            if pause <= 0:
                return None
        time.sleep(pause)
    return lease


@contextmanager
def hold(lock: AnyLock, timeout: float | None = None) -> Iterator[Lease]:
    """`with lock.hold(5) as lease:` The body never runs without a lease: it raises NotAcquired. Leaving raises
    LeaseLost if exclusion did not last; but no error of the release hides one of the body."""
    lease = lock.acquire(timeout)
    if lease is None:
        raise NotAcquired(f"The lock {lock.name!r} could not be had within {timeout} s; somebody else holds it.")
    try:
        yield lease
    except BaseException:
        with suppress(Exception):
            lock.release(lease)
        raise
    lock.release(lease)
