"""Each attempt runs on a threading.Timer of its own, which starts the next; the caller's thread watches."""

import threading
import time

from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from labkit.locks import LeaseLost


def tolerated_misses(n):
    if n < 2:
        raise ValueError("n < 2")
    return n - 2


def longest_interval(ttl, misses, attempt, margin):
    result = (ttl - attempt - margin) / (1 + misses) - attempt
    if result <= 0:
        raise ValueError("impossible")
    return result


class Heart:
    def __init__(self, lock, lease, interval, stop, on_lost):
        self.lock, self.lease, self.interval, self.stop, self.on_lost = lock, lease, interval, stop, on_lost
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
                self.end(lost.reason)
            except (RedisConnectionError, RedisTimeoutError):
                pass
            except BaseException as interrupt:
                self.interrupt = interrupt
                self.end()
        if not self.over():
            self.next_beat()

    def over(self):
        return self.ended or self.stop.is_set() or time.monotonic() >= self.lease.deadline

    def end(self, reason=None):
        with self.busy:
            if reason and not self.ended and not self.stop.is_set():
                self.on_lost(reason)
            self.ended = True

    def check(self):
        with self.busy:  # an attempt that is under way may still bring a new lease
            if self.over():
                self.end("the deadline has passed")


def keep_alive(lock, lease, interval, stop, on_lost):
    heart = Heart(lock, lease, interval, stop, on_lost)
    while not heart.ended:
        left = heart.lease.deadline - time.monotonic()
        stop.wait(max(0.0, min(left, lock.ttl / 200)))
        heart.check()
    heart.timer.cancel()
    if heart.interrupt is not None:
        raise heart.interrupt
