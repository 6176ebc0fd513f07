"""loses: transient errors

These are the built-in ConnectionError and TimeoutError; redis-py raises its own, which have nothing to do with them.
"""

import time

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
