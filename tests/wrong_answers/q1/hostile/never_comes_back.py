"""expect: fail

It waits, so time goes on, but neither the end of a lease nor stop nor any interrupt ends it.
"""

import time


def tolerated_misses(n):
    if n < 2:
        raise ValueError(f"n must be at least 2, not {n}")
    return n - 2


def longest_interval(ttl, misses, attempt, margin):
    interval = (ttl - margin - attempt) / (misses + 1) - attempt
    if interval <= 0:
        raise ValueError(f"the interval would be {interval}")
    return interval


def keep_alive(lock, lease, interval, stop, on_lost):
    while True:
        try:
            time.sleep(interval)
            lease = lock.extend(lease)
        except BaseException:
            time.sleep(interval)
