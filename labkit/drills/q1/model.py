"""The model answer to q1, cut from its solution by tools/exercises.py; it is not edited by hand."""

import time
from collections.abc import Callable
from threading import Event
from typing import Any

from redis.exceptions import ConnectionError, TimeoutError

from labkit.locks import Lease, LeaseLost


def tolerated_misses(n: int) -> int:
    """How many attempts in a row may fail, at an interval of TTL/n, without the lease running out."""
    if n < 2:
        raise ValueError(f"n={n} puts no attempt before the end of the lease; give 2 or more.")
    return (n - 1) - 1  # the attempts strictly before the end, less the one that must be good


def longest_interval(ttl: float, misses: int, attempt: float, margin: float) -> float:
    """The longest interval, in seconds, that survives `misses` bad attempts in a row and leaves the margin."""
    # attempt + (misses + 1) * (interval + attempt) + margin == ttl, from the sending of the last good attempt
    interval = (ttl - margin - attempt) / (misses + 1) - attempt
    if interval <= 0:
        raise ValueError(f"{misses + 2} attempts of {attempt} s and {margin} s of margin fill a lease of {ttl} s.")
    return interval


def keep_alive(lock: Any, lease: Lease, interval: float, stop: Event, on_lost: Callable[[str], None]) -> None:
    """Renews the lease until `stop` is set or the lease is lost; of a loss it tells once, by the deadline."""
    while not stop.wait(max(0.0, min(interval, lease.deadline - time.monotonic()))):
        if time.monotonic() >= lease.deadline:
            on_lost("The lease ran out before it could be renewed.")
            return
        try:
            lease = lock.extend(lease)
        except LeaseLost as lost:
            on_lost(str(lost))
            return
        except (ConnectionError, TimeoutError):
            pass  # it may have been extended or not; what counts is the lease we know
