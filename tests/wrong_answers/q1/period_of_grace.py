"""loses: told in time

It grants the server a period of grace of a tenth of the TTL before it reports the loss.
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
    grace = lock.ttl / 10  # clocks differ
    while True:
        left = lease.deadline + grace - time.monotonic()
        if stop.wait(max(0.0, min(interval, left))):
            return
        now = time.monotonic()
        if now >= lease.deadline + grace:
            on_lost("expired")
            return
        if now >= lease.deadline:
            continue
        try:
            lease = lock.extend(lease)
        except LeaseLost as lost:
            on_lost(str(lost))
            return
        except (ConnectionError, TimeoutError):
            pass
