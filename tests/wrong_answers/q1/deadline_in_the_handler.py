"""loses: nothing after the deadline

It asks whether the deadline has passed only when an attempt has failed, so the first one after a pause is too late.
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
    while not stop.wait(max(0.0, min(interval, lease.deadline - time.monotonic()))):
        try:
            lease = lock.extend(lease)
        except LeaseLost as lost:
            on_lost(str(lost))
            return
        except (ConnectionError, TimeoutError):
            if time.monotonic() >= lease.deadline:
                on_lost("no renewal got through in time")
                return
