"""loses: prompt stop

Its ordinary wait can be stopped, but after an error it sleeps.
"""

import time

from redis.exceptions import ConnectionError, TimeoutError

from labkit.locks import LeaseLost


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
    failed = False
    while not stop.is_set():
        pause = max(0.0, min(interval, lease.deadline - time.monotonic()))
        if failed:
            time.sleep(pause)
        else:
            stop.wait(pause)
        if stop.is_set():
            return
        if time.monotonic() >= lease.deadline:
            on_lost("the lease ran out")
            return
        try:
            lease = lock.extend(lease)
            failed = False
        except LeaseLost as lost:
            on_lost(str(lost))
            return
        except (ConnectionError, TimeoutError):
            failed = True
