"""A machine of four states; each is a function that returns the next one's name."""

from enum import Enum, auto
from time import monotonic

from redis.exceptions import ConnectionError, TimeoutError

from labkit.locks import LeaseLost


class State(Enum):
    WAITING = auto()
    TRYING = auto()
    LOST = auto()
    ENDED = auto()


def tolerated_misses(n: int) -> int:
    if n < 2:
        raise ValueError(f"n={n} is below 2.")
    return n - 2


def longest_interval(ttl: float, misses: int, attempt: float, margin: float) -> float:
    starts_before_the_last = misses + 1
    latest_start = ttl - margin - attempt
    interval = latest_start / starts_before_the_last - attempt
    if interval <= 0:
        raise ValueError("Shorter attempts, fewer misses, a smaller margin, or a longer TTL are needed.")
    return interval


class Machine:
    def __init__(self, lock, lease, interval, stop, on_lost):
        self.lock, self.lease, self.interval, self.stop, self.on_lost = lock, lease, interval, stop, on_lost
        self.reason = "expired"

    def waiting(self):
        self.stop.wait(min(self.interval, max(0.0, self.lease.deadline - monotonic())))
        return State.TRYING

    def trying(self):
        if self.stop.is_set():
            return State.ENDED
        if monotonic() >= self.lease.deadline:
            return State.LOST
        try:
            self.lease = self.lock.extend(self.lease)
        except LeaseLost as lost:
            self.reason = lost.reason
            return State.LOST
        except (ConnectionError, TimeoutError):
            return State.WAITING
        return State.WAITING

    def lost(self):
        self.on_lost(self.reason)
        return State.ENDED


def keep_alive(lock, lease, interval, stop, on_lost):
    machine = Machine(lock, lease, interval, stop, on_lost)
    steps = {State.WAITING: machine.waiting, State.TRYING: machine.trying, State.LOST: machine.lost}
    state = State.WAITING
    while state is not State.ENDED:
        state = steps[state]()
