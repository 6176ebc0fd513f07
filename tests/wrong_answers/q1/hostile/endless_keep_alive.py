"""expect: time-out

It should say that keep_alive loops without a wait, and name the line; the contract forbids such a loop.
"""

import time

from redis.exceptions import ConnectionError, TimeoutError

from labkit.locks import LeaseLost


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
    due = time.monotonic() + interval
    while not stop.is_set():
        if time.monotonic() < min(due, lease.deadline):
            continue
        if time.monotonic() >= lease.deadline:
            on_lost("expired")
            return
        try:
            lease = lock.extend(lease)
        except LeaseLost as lost:
            on_lost(str(lost))
            return
        except (ConnectionError, TimeoutError):
            pass
        due = time.monotonic() + interval
