"""loses: impossible interval

It returns whatever the sum gives, also an interval below zero.
"""

import time

from redis.exceptions import ConnectionError, TimeoutError

from labkit.locks import LeaseLost


def tolerated_misses(n):
    if n < 2:
        raise ValueError(f"n must be at least 2, not {n}")
    return n - 2


def longest_interval(ttl, misses, attempt, margin):
    return (ttl - margin - attempt) / (misses + 1) - attempt


class KeepAlive:
    def __init__(self, lock, lease, interval, stop):
        self.lock, self.lease, self.interval, self.stop = lock, lease, interval, stop

    def expired(self):
        return time.monotonic() >= self.lease.deadline

    def wait(self):
        left = max(0.0, self.lease.deadline - time.monotonic())
        return self.stop.wait(min(self.interval, left))

    def renew(self):
        try:
            self.lease = self.lock.extend(self.lease)
        except (ConnectionError, TimeoutError):
            return  # it may have happened or not


def keep_alive(lock, lease, interval, stop, on_lost):
    job = KeepAlive(lock, lease, interval, stop)
    try:
        while not job.wait():
            if job.expired():
                on_lost("expired")
                return
            job.renew()
    except LeaseLost as lost:
        on_lost(lost.reason)
