"""loses: transient errors

After an error it reports the loss as soon as no further attempt would fit in, before the deadline.
"""

import time

from redis.exceptions import ConnectionError, TimeoutError

from labkit.locks import LeaseLost


def tolerated_misses(n: int) -> int:
    attempts = n - 1  # strictly before the TTL
    if attempts < 1:
        raise ValueError(f"n={n} leaves no attempt before the TTL")
    return attempts - 1


def longest_interval(ttl, misses, attempt, margin):
    interval = (ttl - margin - attempt) / (misses + 1) - attempt
    if interval <= 0:
        raise ValueError(f"the interval would be {interval}")
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
            if lease.deadline - time.monotonic() < interval:
                on_lost("no time is left for another attempt")
                return
