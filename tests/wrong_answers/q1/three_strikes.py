"""loses: transient errors

It gives up at the third error in a row, although the lease may have time for more.
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
    errors = 0
    while True:
        left = lease.deadline - time.monotonic()
        if stop.wait(max(0.0, min(interval, left))):
            return
        if time.monotonic() >= lease.deadline:
            on_lost("the lease ran out")
            return
        try:
            lease = lock.extend(lease)
            errors = 0
        except LeaseLost as lost:
            on_lost(str(lost))
            return
        except (ConnectionError, TimeoutError):
            errors += 1
            if errors == 3:
                on_lost("three renewals in a row have failed")
                return
