"""After an error it does not wait a whole interval: the more attempts before the deadline, the better the odds."""

import time

from redis.exceptions import ConnectionError, TimeoutError

from labkit.locks import LeaseLost

FASTER = 4


def tolerated_misses(n):
    if n < 2:
        raise ValueError("With n below 2 no attempt falls before the TTL.")
    return n - 2


def longest_interval(ttl, misses, attempt, margin):
    interval = (ttl - margin - (misses + 2) * attempt) / (misses + 1)
    if interval <= 0:
        raise ValueError("These times do not fit into one TTL.")
    return interval


def keep_alive(lock, lease, interval, stop, on_lost):
    pause = interval
    while True:
        stop.wait(max(0.0, min(pause, lease.deadline - time.monotonic())))
        if stop.is_set():
            return
        if time.monotonic() >= lease.deadline:
            on_lost("the lease has run out unrenewed")
            return
        try:
            lease = lock.extend(lease)
            pause = interval
        except LeaseLost as lost:
            on_lost(f"the lock says: {lost}")
            return
        except (ConnectionError, TimeoutError):
            pause = interval / FASTER
