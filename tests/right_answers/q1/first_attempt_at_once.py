"""Does not trust the lease it is given: the first attempt comes at once, and only then does it wait."""

import time

from redis.exceptions import ConnectionError, TimeoutError

from labkit.locks import LeaseLost


def tolerated_misses(n):
    if n < 2:
        raise ValueError("n has to be two or greater")
    return n - 2


def longest_interval(ttl, misses, attempt, margin):
    interval = (ttl - margin - attempt) / (misses + 1) - attempt
    if interval <= 0:
        raise ValueError("impossible")
    return interval


def keep_alive(lock, lease, interval, stop, on_lost):
    while not stop.is_set():
        if time.monotonic() >= lease.deadline:
            on_lost("too late to renew")
            return
        try:
            lease = lock.extend(lease)
        except LeaseLost as lost:
            on_lost(lost.reason)
            return
        except (ConnectionError, TimeoutError):
            pass
        left = lease.deadline - time.monotonic()
        if stop.wait(max(0.0, min(interval, left))):
            return
