"""Prints, warns and logs at every step; none of it may matter."""

import logging
import sys
import time
import warnings

from redis.exceptions import ConnectionError, TimeoutError

from labkit.locks import LeaseLost

log = logging.getLogger(__name__)


def tolerated_misses(n):
    print("tolerated_misses of", n)
    if n < 2:
        print("that is too few", file=sys.stderr)
        raise ValueError("too few")
    return n - 2


def longest_interval(ttl, misses, attempt, margin):
    warnings.warn("longest_interval is only as good as its arguments", UserWarning, stacklevel=2)
    interval = (ttl - margin - attempt) / (misses + 1) - attempt
    print(f"{ttl=} {misses=} {attempt=} {margin=} -> {interval=}", flush=True)
    if interval <= 0:
        raise ValueError(interval)
    return interval


def keep_alive(lock, lease, interval, stop, on_lost):
    print("watching", lease, flush=True)
    while True:
        left = lease.deadline - time.monotonic()
        print(f"{left:.3f} s left, next look in at most {interval} s")
        stop.wait(max(0.0, min(interval, left)))
        print("awake")
        if stop.is_set():
            print("stopped")
            return
        if time.monotonic() >= lease.deadline:
            warnings.warn("the lease has expired", RuntimeWarning, stacklevel=1)
            on_lost("expired")
            print("told")
            return
        try:
            lease = lock.extend(lease)
            print("renewed until", lease.deadline)
        except LeaseLost as lost:
            log.error("lost: %s", lost)
            on_lost(str(lost))
            return
        except (ConnectionError, TimeoutError) as error:
            log.warning("survived %r", error)
            print(error, file=sys.stderr, flush=True)
