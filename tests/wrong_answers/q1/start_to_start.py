"""loses: longest interval

It measures the interval from the start of one attempt to the start of the next.
"""

import time

from redis.exceptions import ConnectionError, TimeoutError

from labkit.locks import LeaseLost


def tolerated_misses(n: int) -> int:
    attempts = n - 1  # strictly before the TTL
    if attempts < 1:
        raise ValueError(f"n={n} leaves no attempt before the TTL")
    return attempts - 1


def longest_interval(ttl, misses, attempt, margin):
    interval = (ttl - margin - attempt) / (misses + 1)
    if interval <= attempt:
        raise ValueError("the next attempt would start before the last one has ended")
    return interval


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
