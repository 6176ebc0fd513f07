"""loses: keeps renewing

After the first renewal that succeeds it only watches the deadline.
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
    renewed = False
    while True:
        left = max(0.0, lease.deadline - time.monotonic())
        if stop.wait(left if renewed else min(interval, left)):
            return
        if time.monotonic() >= lease.deadline:
            on_lost("expired")
            return
        try:
            lease = lock.extend(lease)
            renewed = True
        except LeaseLost as lost:
            on_lost(str(lost))
            return
        except (ConnectionError, TimeoutError):
            pass
