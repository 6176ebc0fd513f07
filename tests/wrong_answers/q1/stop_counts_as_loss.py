"""loses: nothing after stop

It reports every end of the loop as a loss, also the one that was asked for.
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
    reason = "renewal has ended"
    while not stop.wait(max(0.0, min(interval, lease.deadline - time.monotonic()))):
        if time.monotonic() >= lease.deadline:
            reason = "expired"
            break
        try:
            lease = lock.extend(lease)
        except LeaseLost as lost:
            reason = str(lost)
            break
        except (ConnectionError, TimeoutError):
            pass
    on_lost(reason)
