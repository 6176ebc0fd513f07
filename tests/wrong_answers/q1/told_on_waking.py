"""loses: told in time

It looks at the deadline only when it wakes up to renew, however long it sleeps.
"""

import time

from redis.exceptions import ConnectionError, TimeoutError

from labkit.locks import LeaseLost


def tolerated_misses(n: int) -> int:
    attempts = n - 1  # strictly before the TTL
    if attempts < 1:
        raise ValueError(f"n={n} leaves no attempt before the TTL")
    return attempts - 1


def longest_interval(ttl: float, misses: int, attempt: float, margin: float) -> float:
    room = ttl - margin - (misses + 2) * attempt
    if room <= 0:
        raise ValueError("the attempts and the margin do not fit into the TTL")
    return room / (misses + 1)


def keep_alive(lock, lease, interval, stop, on_lost):
    while True:
        if stop.wait(interval):
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
