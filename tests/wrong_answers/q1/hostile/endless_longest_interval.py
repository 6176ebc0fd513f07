"""expect: time-out

It should say that longest_interval did not return in time, and name the line of the loop.
"""

import time

from redis.exceptions import ConnectionError, TimeoutError

from labkit.locks import LeaseLost


def tolerated_misses(n):
    if n < 2:
        raise ValueError(f"n must be at least 2, not {n}")
    return n - 2


def longest_interval(ttl, misses, attempt, margin):
    wanted = (ttl - margin - attempt) / (misses + 1) - attempt
    if wanted <= 0:
        raise ValueError(wanted)
    interval = ttl
    while interval != wanted:  # no sum of floats hits it exactly
        interval -= 0.0007
    return interval


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
