"""expect: error

It should say that keep_alive is `async def`: called, it does nothing. The other two are right.
"""

import asyncio
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


async def keep_alive(lock, lease, interval, stop, on_lost):
    while not stop.is_set():
        await asyncio.sleep(max(0.0, min(interval, lease.deadline - time.monotonic())))
        if stop.is_set():
            return
        if time.monotonic() >= lease.deadline:
            on_lost("expired")
            return
        try:
            lease = lock.extend(lease)
        except LeaseLost as lost:
            on_lost(str(lost))
            return
        except (ConnectionError, TimeoutError):
            pass
