"""Treats every Exception but LeaseLost as an error that passes; interrupts are none, so they get out."""

import contextlib
import time

from labkit.locks import LeaseLost


def tolerated_misses(n):
    if n < 2:
        raise ValueError("n >= 2, please")
    return max(n - 2, 0)


def longest_interval(ttl, misses, attempt, margin):
    interval = (ttl - (misses + 2) * attempt - margin) / (misses + 1)
    if interval <= 0.0:
        raise ValueError("interval > 0 cannot be had")
    return interval


def renewed(lock, lease):
    try:
        return lock.extend(lease)
    except LeaseLost:
        raise
    except Exception:
        return lease


def keep_alive(lock, lease, interval, stop, on_lost):
    with contextlib.suppress(LeaseLost):
        while time.monotonic() < lease.deadline:
            stop.wait(min(interval, max(lease.deadline - time.monotonic(), 0.0)))
            if stop.is_set():
                return
            if time.monotonic() < lease.deadline:
                lease = renewed(lock, lease)
    if not stop.is_set():
        on_lost("the lock is gone")
