"""expect: fail

It replaces the lock's extend by something that always succeeds, and never asks the server.
"""

import contextlib
import time
from dataclasses import replace


def tolerated_misses(n):
    if n < 2:
        raise ValueError(f"n must be at least 2, not {n}")
    return n - 2


def longest_interval(ttl, misses, attempt, margin):
    interval = (ttl - margin - attempt) / (misses + 1) - attempt
    if interval <= 0:
        raise ValueError(f"the interval would be {interval}")
    return interval


def keep_alive(lock, lease, interval, stop, on_lost):
    def extend(old):
        return replace(old, deadline=time.monotonic() + lock.ttl)

    with contextlib.suppress(Exception):
        lock.extend = extend
    while not stop.wait(interval):
        lease = extend(lease)
