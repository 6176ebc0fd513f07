"""The outcome of an attempt is a value, and a match statement decides what follows from it."""

import time
from typing import NamedTuple

from redis.exceptions import ConnectionError, TimeoutError

from labkit import Lease
from labkit.locks import LeaseLost


class Renewed(NamedTuple):
    lease: Lease


class Lost(NamedTuple):
    reason: str


class Unknown(NamedTuple):
    error: Exception


class Stopped(NamedTuple):
    pass


def tolerated_misses(n):
    match n:
        case int() if n >= 2:
            return n - 2
        case _:
            raise ValueError(n)


def longest_interval(ttl, misses, attempt, margin):
    match (ttl - margin - attempt) / (misses + 1) - attempt:
        case interval if interval > 0:
            return interval
        case impossible:
            raise ValueError(impossible)


def attempt_of(lock, lease, stop):
    if stop.is_set():
        return Stopped()
    if time.monotonic() >= lease.deadline:
        return Lost("expired")
    try:
        return Renewed(lock.extend(lease))
    except LeaseLost as lost:
        return Lost(lost.reason)
    except (ConnectionError, TimeoutError) as error:
        return Unknown(error)


def keep_alive(lock, lease, interval, stop, on_lost):
    while True:
        stop.wait(max(0.0, min(interval, lease.deadline - time.monotonic())))
        match attempt_of(lock, lease, stop):
            case Renewed(lease):
                continue
            case Unknown(_):
                continue
            case Lost(reason):
                on_lost(reason)
                return
            case Stopped():
                return
