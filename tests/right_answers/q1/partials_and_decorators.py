"""A decorator that refuses results out of range, and partials that carry the lock's call through errors."""

import functools
import time

from redis.exceptions import ConnectionError, TimeoutError

from labkit.locks import LeaseLost


def at_least(least, strictly=False):
    def decorate(function):
        @functools.wraps(function)
        def checked(*args, **kwargs):
            result = function(*args, **kwargs)
            if result < least or (strictly and result == least):
                raise ValueError(f"{function.__name__}{args} would be {result}")
            return result

        return checked

    return decorate


@at_least(0)
def tolerated_misses(n):
    return n - 2


@at_least(0, strictly=True)
def longest_interval(ttl, misses, attempt, margin):
    return (ttl - margin - attempt) / (misses + 1) - attempt


def surviving(errors, function, *args):
    """The function's result, or None where one of these errors was raised."""
    try:
        return function(*args)
    except errors:
        return None


through_trouble = functools.partial(surviving, (ConnectionError, TimeoutError))


def keep_alive(lock, lease, interval, stop, on_lost):
    extend = functools.partial(through_trouble, lock.extend)
    try:
        while True:
            if stop.wait(min(interval, max(lease.deadline - time.monotonic(), 0))):
                return
            if time.monotonic() >= lease.deadline:
                break
            lease = extend(lease) or lease
    except LeaseLost as lost:
        on_lost(str(lost))
        return
    on_lost("expired")
