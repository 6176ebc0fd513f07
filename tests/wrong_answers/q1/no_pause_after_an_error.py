"""loses: keeps renewing

After an error it tries again at once, and again, without any wait between two attempts.
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
    pause = interval
    while True:
        left = max(0.0, lease.deadline - time.monotonic())
        if stop.wait(min(pause, left)):
            return
        if time.monotonic() >= lease.deadline:
            on_lost("expired")
            return
        try:
            lease = lock.extend(lease)
            pause = interval
        except LeaseLost as lost:
            on_lost(str(lost))
            return
        except (ConnectionError, TimeoutError):
            pause = 0
