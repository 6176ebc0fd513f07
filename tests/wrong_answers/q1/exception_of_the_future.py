"""loses: interrupts

A future's `exception()` returns interrupts too, and here they pass for errors of the network.
"""

import time
from concurrent.futures import ThreadPoolExecutor

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


def renew(lock, lease, stop):
    if stop.is_set() or time.monotonic() >= lease.deadline:
        return lease
    return lock.extend(lease)


def keep_alive(lock, lease, interval, stop, on_lost):
    with ThreadPoolExecutor(max_workers=1) as pool:
        while not stop.wait(max(0.0, min(interval, lease.deadline - time.monotonic()))):
            if time.monotonic() >= lease.deadline:
                on_lost("expired")
                return
            attempt = pool.submit(renew, lock, lease, stop)
            error = attempt.exception()
            if isinstance(error, LeaseLost):
                on_lost(str(error))
                return
            if error is None:
                lease = attempt.result()
