"""A pool of one thread does the renewals; the result of its future brings whatever was raised over here."""

import time
from concurrent.futures import ThreadPoolExecutor

from redis.exceptions import ConnectionError, TimeoutError

from labkit.locks import LeaseLost


def tolerated_misses(n):
    if n < 2:
        raise ValueError("give an n of at least 2")
    return (n - 1) - 1


def longest_interval(ttl, misses, attempt, margin):
    latest_start_of_the_good_one = ttl - margin - attempt
    longest = latest_start_of_the_good_one / (misses + 1) - attempt
    if longest > 0:
        return longest
    raise ValueError(f"longest interval would be {longest}")


def renew_in_time(lock, lease, stop):
    """The new lease, or None if it is too late to ask for one."""
    if stop.is_set() or time.monotonic() >= lease.deadline:
        return None
    return lock.extend(lease)


def keep_alive(lock, lease, interval, stop, on_lost):
    with ThreadPoolExecutor(max_workers=1) as pool:
        while True:
            left = lease.deadline - time.monotonic()
            if stop.wait(timeout=max(min(interval, left), 0)):
                return
            future = pool.submit(renew_in_time, lock, lease, stop)
            try:
                lease = future.result() or lease
            except LeaseLost as error:
                on_lost(f"{error}")
                return
            except (ConnectionError, TimeoutError):
                pass
            if stop.is_set():
                return
            if time.monotonic() >= lease.deadline:
                on_lost("no renewal before the deadline")
                return
