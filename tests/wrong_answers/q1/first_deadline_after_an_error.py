"""loses: transient errors

After an error it looks at the deadline of the lease that it was given first.
"""

import time

from redis.exceptions import ConnectionError, TimeoutError

from labkit.locks import LeaseLost


def tolerated_misses(n):
    if n < 2:
        raise ValueError(f"n={n}: there is no attempt before the lease ends; give 2 or more.")
    return n - 2


def longest_interval(ttl, misses, attempt, margin):
    interval = (ttl - margin - attempt) / (misses + 1) - attempt
    if interval <= 0:
        raise ValueError("The attempts alone take longer than the lease lasts.")
    return interval


def keep_alive(lock, lease, interval, stop, on_lost):
    first = lease.deadline
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
            if time.monotonic() >= first:
                on_lost("an error, and the lease is over")
                return
