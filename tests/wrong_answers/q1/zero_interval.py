"""loses: impossible interval

It refuses an interval below zero but not one of exactly zero, which would be no wait at all.
"""

import time

from redis.exceptions import ConnectionError, TimeoutError

from labkit.locks import LeaseLost


def tolerated_misses(n: int) -> int:
    attempts = n - 1  # strictly before the TTL
    if attempts < 1:
        raise ValueError(f"n={n} leaves no attempt before the TTL")
    return attempts - 1


def longest_interval(ttl: float, misses: int, attempt: float, margin: float) -> float:
    room = ttl - margin - (misses + 2) * attempt
    if room < 0:
        raise ValueError("the attempts and the margin do not fit into the TTL")
    return room / (misses + 1)


def keep_alive(lock, lease, interval, stop, on_lost):
    while True:
        left = lease.deadline - time.monotonic()
        if stop.wait(max(0.0, min(interval, left))):
            return
        if time.monotonic() >= lease.deadline:
            on_lost("the lease ran out")
            return
        try:
            lease = lock.extend(lease)
        except LeaseLost as lost:
            on_lost(str(lost))
            return
        except (ConnectionError, TimeoutError):
            pass
