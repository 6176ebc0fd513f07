"""loses: nothing after stop

Woken by stop, it makes one more attempt before it looks at stop again.
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
    while not stop.is_set():
        left = lease.deadline - time.monotonic()
        stop.wait(max(0.0, min(interval, left)))
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
