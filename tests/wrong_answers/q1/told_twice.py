"""loses: told once

Both the step that finds the loss and the loop around it report it.
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


def renew(lock, lease, on_lost):
    """The lease that counts from now on, or None if it is lost."""
    try:
        return lock.extend(lease)
    except LeaseLost as lost:
        on_lost(str(lost))
        return None
    except (ConnectionError, TimeoutError):
        return lease


def keep_alive(lock, lease, interval, stop, on_lost):
    while lease is not None:
        left = lease.deadline - time.monotonic()
        if stop.wait(max(0.0, min(interval, left))):
            return
        lease = renew(lock, lease, on_lost) if time.monotonic() < lease.deadline else None
    on_lost("the lease is lost")
