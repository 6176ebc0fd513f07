"""Sleeps in slices that are short enough for everything it has promised, and looks around after each."""

import time

from redis.exceptions import ConnectionError, TimeoutError

from labkit.locks import LeaseLost

SLICES_A_TTL = 50


def tolerated_misses(n):
    if n < 2:
        raise ValueError("n must not be below 2")
    misses = 0
    while misses + 2 < n:  # the attempt after so many misses still falls before the TTL
        misses += 1
    return misses


def longest_interval(ttl, misses, attempt, margin):
    interval = (ttl - margin - attempt) / (misses + 1) - attempt
    if interval <= 0:
        raise ValueError("impossible interval")
    return interval


def keep_alive(lock, lease, interval, stop, on_lost):
    due = time.monotonic() + interval
    while not stop.is_set():
        now = time.monotonic()
        if now >= lease.deadline:
            on_lost("expired")
            return
        if now < due:
            time.sleep(min(lock.ttl / SLICES_A_TTL, due - now, lease.deadline - now))
            continue
        try:
            lease = lock.extend(lease)
        except LeaseLost:
            on_lost("stolen")
            return
        except (ConnectionError, TimeoutError):
            pass
        due = time.monotonic() + interval
