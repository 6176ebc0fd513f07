"""loses: told in time

The wait after an error is not cut short at the deadline, as the wait after a success is.
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
    pause = min(interval, lease.deadline - time.monotonic())
    while True:
        if stop.wait(max(0.0, pause)):
            return
        if time.monotonic() >= lease.deadline:
            on_lost("the lease ran out")
            return
        try:
            lease = lock.extend(lease)
            pause = min(interval, lease.deadline - time.monotonic())
        except LeaseLost as lost:
            on_lost(str(lost))
            return
        except (ConnectionError, TimeoutError):
            pause = interval
