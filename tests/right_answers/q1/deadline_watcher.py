"""Two threads: this one renews, a helper watches the deadline and tells even while a renewal is still under way."""

from __future__ import annotations

import threading
import time

from redis.exceptions import ConnectionError, TimeoutError

from labkit.locks import LeaseLost


def tolerated_misses(n: int) -> int:
    if n < 2:
        raise ValueError("A lease that is renewed only at its end is not renewed: n >= 2.")
    return n - 2


def longest_interval(ttl: float, misses: int, attempt: float, margin: float) -> float:
    last_good_one_starts = ttl - margin - attempt
    round_trip = last_good_one_starts / (misses + 1)
    if round_trip - attempt <= 0:
        raise ValueError("No time is left between two attempts.")
    return round_trip - attempt


class Watcher:
    """Calls on_lost at the deadline, unless it is moved, the work is stopped, or somebody else has told already."""

    def __init__(self, deadline, stop, on_lost):
        self.deadline = deadline
        self.stop = stop
        self.on_lost = on_lost
        self.over = False
        self.changed = threading.Condition(threading.RLock())
        self.thread = threading.Thread(target=self.watch, daemon=True)
        self.thread.start()

    def watch(self):
        with self.changed:
            while not self.over:
                left = self.deadline - time.monotonic()
                if left <= 0:
                    self.tell("expired: no renewal got through before the deadline")
                else:
                    self.changed.wait(left)

    def tell(self, reason):
        with self.changed:
            if not self.over and not self.stop.is_set():
                self.on_lost(reason)
            self.end()

    def move(self, deadline):
        with self.changed:
            self.deadline = deadline
            self.changed.notify_all()

    def end(self):
        with self.changed:
            self.over = True
            self.changed.notify_all()


def keep_alive(lock, lease, interval, stop, on_lost):
    watcher = Watcher(lease.deadline, stop, on_lost)
    try:
        renew(lock, lease, interval, stop, watcher)
    finally:
        watcher.end()
        watcher.thread.join()


def renew(lock, lease, interval, stop, watcher):
    while not watcher.over:
        stop.wait(min(interval, max(lease.deadline - time.monotonic(), 0)))
        if stop.is_set():
            return
        if time.monotonic() >= lease.deadline:
            watcher.tell("expired")
            return
        try:
            lease = lock.extend(lease)
            watcher.move(lease.deadline)
        except LeaseLost as lost:
            watcher.tell(f"lost: {lost}")
            return
        except (ConnectionError, TimeoutError):
            continue
