"""A class that carries the lease from step to step."""

import threading
import time
from collections.abc import Callable

from redis.exceptions import RedisError

from labkit import Lease
from labkit.locks import LeaseLost


def tolerated_misses(n: int) -> int:
    attempts_inside = n - 1
    if attempts_inside < 1:
        raise ValueError(f"n must be at least 2, not {n}")
    return attempts_inside - 1


def longest_interval(ttl: float, misses: int, attempt: float, margin: float) -> float:
    rounds = misses + 1
    spent = attempt * (rounds + 1) + margin
    if spent >= ttl:
        raise ValueError(f"{rounds + 1} attempts and the margin need {spent} s, more than a TTL of {ttl} s has")
    return (ttl - spent) / rounds


class Renewer:
    def __init__(self, lock, lease: Lease, interval: float, stop: threading.Event, on_lost: Callable[[str], None]):
        self.lock = lock
        self.lease = lease
        self.interval = interval
        self.stop = stop
        self.on_lost = on_lost

    def run(self) -> None:
        reason = None
        while reason is None:
            self.pause()
            if self.stop.is_set():
                return
            reason = self.attempt()
        self.on_lost(reason)

    def left(self) -> float:
        return max(0.0, self.lease.deadline - time.monotonic())

    def pause(self) -> None:
        self.stop.wait(min(self.interval, self.left()))

    def attempt(self) -> str | None:
        """Why the lease is lost, or None as long as it is not."""
        if self.left() == 0.0:
            return "expired"
        try:
            self.lease = self.lock.extend(self.lease)
        except LeaseLost as lost:
            return lost.reason or "lost"
        except RedisError:
            return None
        return None


def keep_alive(lock, lease, interval, stop, on_lost) -> None:
    Renewer(lock, lease, interval, stop, on_lost).run()
