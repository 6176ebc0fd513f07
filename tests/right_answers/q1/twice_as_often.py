"""Renews twice as often as it is asked to: «at most `interval`» allows that."""

import time

from redis.exceptions import RedisError

from labkit.locks import LeaseLost


def tolerated_misses(n):
    if n < 2:
        raise ValueError("n must be 2 or more")
    return n - 2


def longest_interval(ttl, misses, attempt, margin):
    per_round = (ttl - margin - attempt) / (misses + 1)
    if per_round <= attempt:
        raise ValueError("the attempts would overlap")
    return per_round - attempt


def keep_alive(lock, lease, interval, stop, on_lost):
    pause = interval / 2
    while not stop.is_set():
        remaining = lease.deadline - time.monotonic()
        if remaining <= 0:
            on_lost("expired")
            return
        if stop.wait(min(pause, remaining)) or stop.is_set():
            return
        if time.monotonic() >= lease.deadline:
            continue
        try:
            lease = lock.extend(lease)
        except LeaseLost as error:
            on_lost("stolen or expired: " + str(error))
            return
        except RedisError:
            pass
