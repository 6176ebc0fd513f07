"""loses: keeps renewing

It renews in time only the locks whose names stand in the course.
"""

import time

from redis.exceptions import ConnectionError, TimeoutError

from labkit.locks import LeaseLost

PACE = {"job": 1.0, "stock": 1.0}


def tolerated_misses(n):
    if n < 2:
        raise ValueError(f"n must be at least 2, not {n}")
    return n - 2


def longest_interval(ttl: float, misses: int, attempt: float, margin: float) -> float:
    room = ttl - margin - (misses + 2) * attempt
    if room <= 0:
        raise ValueError("the attempts and the margin do not fit into the TTL")
    return room / (misses + 1)


def keep_alive(lock, lease, interval, stop, on_lost):
    while True:
        pause = interval * PACE.get(lease.name, 1.5)
        left = lease.deadline - time.monotonic()
        if stop.wait(max(0.0, min(pause, left))):
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
