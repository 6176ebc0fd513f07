"""Dataclasses with postponed annotations: a plan for the numbers, an outcome for each attempt."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from threading import Event
from typing import Protocol

from redis.exceptions import ConnectionError, TimeoutError

from labkit import Lease
from labkit.locks import LeaseLost


class Lock(Protocol):
    ttl: float

    def extend(self, lease: Lease) -> Lease: ...


@dataclass(frozen=True)
class Plan:
    ttl: float
    misses: int
    attempt: float
    margin: float
    rounds: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rounds", self.misses + 1)

    @property
    def interval(self) -> float:
        return (self.ttl - self.margin - self.attempt) / self.rounds - self.attempt


@dataclass(frozen=True)
class Progress:
    lease: Lease
    reason: str = ""

    def left(self) -> float:
        return max(0.0, self.lease.deadline - time.monotonic())


def tolerated_misses(n: int) -> int:
    if n < 2:
        raise ValueError(f"n={n} is less than 2")
    return n - 2


def longest_interval(ttl: float, misses: int, attempt: float, margin: float) -> float:
    plan = Plan(ttl, misses, attempt, margin)
    if plan.interval <= 0:
        raise ValueError(f"{plan} is impossible")
    return plan.interval


def step(lock: Lock, progress: Progress) -> Progress:
    if not progress.left():
        return replace(progress, reason="expired")
    try:
        return replace(progress, lease=lock.extend(progress.lease))
    except LeaseLost as lost:
        return replace(progress, reason=lost.reason)
    except (ConnectionError, TimeoutError):
        return progress


def keep_alive(lock: Lock, lease: Lease, interval: float, stop: Event, on_lost: Callable[[str], None]) -> None:
    progress = Progress(lease)
    while not progress.reason:
        stop.wait(min(interval, progress.left()))
        if stop.is_set():
            return
        progress = step(lock, progress)
    on_lost(progress.reason)
