"""loses: nothing after stop

It returns at stop but leaves its timer running, which goes on renewing a lock that its owner has given back.
"""

import threading
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


class Heart:
    def __init__(self, lock, lease, interval, on_lost):
        self.lock, self.lease, self.interval, self.on_lost = lock, lease, interval, on_lost
        self.ended = False
        self.interrupt = None
        self.busy = threading.RLock()  # held during an attempt
        self.next_beat()

    def next_beat(self):
        self.timer = threading.Timer(self.interval, self.beat)
        self.timer.daemon = True
        self.timer.start()

    def beat(self):
        with self.busy:
            if self.over():
                return
            try:
                self.lease = self.lock.extend(self.lease)
            except LeaseLost as lost:
                self.end(str(lost))
            except (ConnectionError, TimeoutError):
                pass
            except BaseException as interrupt:
                self.interrupt = interrupt
                self.end()
        if not self.over():
            self.next_beat()

    def over(self):
        return self.ended or time.monotonic() >= self.lease.deadline

    def end(self, reason=None):
        with self.busy:
            if reason and not self.ended:
                self.on_lost(reason)
            self.ended = True

    def check(self):
        with self.busy:  # an attempt that is under way may still bring a new lease
            if self.over():
                self.end("the deadline has passed")


def keep_alive(lock, lease, interval, stop, on_lost):
    heart = Heart(lock, lease, interval, on_lost)
    while not heart.ended:
        left = heart.lease.deadline - time.monotonic()
        if stop.wait(max(0.0, min(left, lock.ttl / 200))):
            return
        heart.check()
    heart.timer.cancel()
    if heart.interrupt is not None:
        raise heart.interrupt
