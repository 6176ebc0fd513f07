"""loses: told in time, nothing after the deadline

It keeps the deadline by the wall clock; one that is set back makes it go on too long.
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


def on_the_wall(lease):
    return time.time() + lease.deadline - time.monotonic()


def keep_alive(lock, lease, interval, stop, on_lost):
    deadline = on_the_wall(lease)
    while True:
        left = deadline - time.time()
        if stop.wait(max(0.0, min(interval, left))):
            return
        if time.time() >= deadline:
            on_lost("the lease ran out")
            return
        try:
            lease = lock.extend(lease)
            deadline = on_the_wall(lease)
        except LeaseLost as lost:
            on_lost(str(lost))
            return
        except (ConnectionError, TimeoutError):
            pass
