"""A generator hands out one lease after the other; that the last one has ended is an exception of its own."""

import time

from redis.exceptions import ConnectionError, TimeoutError

from labkit.locks import LeaseLost


class Expired(Exception):
    pass


def tolerated_misses(n):
    if n < 2:
        raise ValueError(f"n={n}")
    return n - 2


def longest_interval(ttl, misses, attempt, margin):
    starts = range(1, misses + 2)  # the bad attempts and the good one
    interval = (ttl - margin - attempt - attempt * len(starts)) / len(starts)
    if interval <= 0:
        raise ValueError(f"interval={interval}")
    return interval


def beats(interval, stop, deadline):
    """Yields at each moment at which an attempt is due; `deadline()` is the newest lease's."""
    while True:
        stop.wait(max(0.0, min(interval, deadline() - time.monotonic())))
        if stop.is_set():
            return
        if time.monotonic() >= deadline():
            raise Expired("the deadline of the newest lease has passed")
        yield


def keep_alive(lock, lease, interval, stop, on_lost):
    leases = [lease]
    try:
        for _ in beats(interval, stop, lambda: leases[-1].deadline):
            try:
                leases.append(lock.extend(leases[-1]))
            except (ConnectionError, TimeoutError):
                continue
    except (LeaseLost, Expired) as end:
        on_lost(str(end))
