"""Moments instead of spans: the next attempt's and the deadline's; it sleeps until the earlier of the two."""

import time

from redis.exceptions import ConnectionError, TimeoutError

from labkit.locks import LeaseLost


def tolerated_misses(n):
    if not n >= 2:
        raise ValueError(f"{n} < 2")
    return n - 2


def longest_interval(ttl, misses, attempt, margin):
    # (misses + 1) rounds of attempt and interval, then the good attempt, must end at ttl - margin
    interval = (ttl - margin - attempt) / (misses + 1) - attempt
    if not interval > 0:
        raise ValueError(f"{interval} <= 0")
    return interval


def keep_alive(lock, lease, interval, stop, on_lost):
    next_attempt = time.monotonic() + interval
    while not stop.is_set():
        now = time.monotonic()
        if now >= lease.deadline:
            on_lost("deadline passed")
            break
        if now < next_attempt:
            stop.wait(min(next_attempt, lease.deadline) - now)
            continue
        try:
            lease = lock.extend(lease)
        except LeaseLost:
            on_lost("lease lost")
            break
        except (ConnectionError, TimeoutError):
            pass
        next_attempt = time.monotonic() + interval
