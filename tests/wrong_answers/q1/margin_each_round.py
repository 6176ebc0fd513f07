"""loses: longest interval

It keeps the margin free in each round, where it is wanted only once, at the end.
"""

import time

from redis.exceptions import ConnectionError, TimeoutError

from labkit.locks import LeaseLost


def tolerated_misses(n):
    if n < 2:
        raise ValueError(f"n must be at least 2, not {n}")
    return n - 2


def longest_interval(ttl: float, misses: int, attempt: float, margin: float) -> float:
    if margin + (misses + 2) * attempt >= ttl:
        raise ValueError("the attempts and the margin do not fit into the TTL")
    return (ttl - attempt) / (misses + 1) - attempt - margin


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
