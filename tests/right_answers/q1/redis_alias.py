"""redis.exceptions under a short name, and a lease that is passed unchanged: any lease of the grant will do."""

import time as clock

import redis.exceptions as rx

import labkit.locks as locks

TRANSIENT = (rx.ConnectionError, rx.TimeoutError)


def tolerated_misses(n):
    if n < 2:
        raise ValueError("n is less than two")
    return n - 2


def longest_interval(ttl, misses, attempt, margin):
    free = ttl - margin - attempt * (misses + 2)
    if free <= 0:
        raise ValueError("no free time")
    return free / (misses + 1)


def keep_alive(lock, lease, interval, stop, on_lost):
    until = lease.deadline
    reason = None
    while reason is None:
        stop.wait(max(0, min(interval, until - clock.monotonic())))
        if stop.is_set():
            return
        if clock.monotonic() >= until:
            reason = "the time is up"
        else:
            try:
                until = lock.extend(lease).deadline
            except locks.LeaseLost as lost:
                reason = lost.reason
            except TRANSIENT:
                reason = None
    on_lost(reason)
