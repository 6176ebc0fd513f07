"""loses: prompt stop

It looks at stop five times a TTL, which is four times too seldom.
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


def doze(until, step, stop):
    """Sleeps until a moment or until stop is set, looking at it after each step."""
    while not stop.is_set() and (left := until - time.monotonic()) > 0:
        time.sleep(min(step, left))


def keep_alive(lock, lease, interval, stop, on_lost):
    while True:
        doze(min(time.monotonic() + interval, lease.deadline), lock.ttl / 5, stop)
        if stop.is_set():
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
