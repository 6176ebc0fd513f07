"""A threading.Timer rings at the deadline; it is put off while a renewal is under way and set anew after it."""

import threading
import time

import redis

from labkit.locks import LeaseLost


def tolerated_misses(n):
    if n >= 2:
        return n - 2
    raise ValueError("n counts the parts of a TTL, so at least 2 of them")


def longest_interval(ttl, misses, attempt, margin):
    usable = ttl - margin - (misses + 2) * attempt
    if not usable > 0:
        raise ValueError("nothing usable is left of the TTL")
    return usable / (misses + 1)


class Alarm:
    def __init__(self, stop, on_lost):
        self.stop, self.on_lost = stop, on_lost
        self.guard = threading.RLock()
        self.timer = None
        self.over = False

    def set(self, deadline):
        self.timer = threading.Timer(max(0.0, deadline - time.monotonic()), self.tell, ["the deadline has passed"])
        self.timer.daemon = True
        self.timer.start()

    def put_off(self):
        self.timer.cancel()

    def tell(self, reason):
        with self.guard:
            if not self.over and not self.stop.is_set():
                self.over = True
                self.on_lost(reason)

    def close(self):
        with self.guard:
            self.over = True
        self.timer.cancel()


def keep_alive(lock, lease, interval, stop, on_lost):
    alarm = Alarm(stop, on_lost)
    alarm.set(lease.deadline)
    try:
        while not alarm.over:
            stop.wait(max(0.0, min(interval, lease.deadline - time.monotonic())))
            alarm.put_off()
            if stop.is_set() or alarm.over:
                break
            if time.monotonic() >= lease.deadline:
                alarm.tell("expired")
                break
            try:
                lease = lock.extend(lease)
            except LeaseLost as lost:
                alarm.tell(lost.reason)
            except (redis.exceptions.ConnectionError, redis.exceptions.TimeoutError):
                pass
            alarm.set(lease.deadline)
    finally:
        alarm.close()
