"""expect: fail

It answers by the number of the call, learnt from an earlier verdict, and not by its arguments.
"""

import itertools
import time

from redis.exceptions import ConnectionError, TimeoutError

from labkit.locks import LeaseLost

CALLS = itertools.count()


def tolerated_misses(n):
    answers = [0, 1, 2, 3, 8]
    call = next(CALLS)
    if call < len(answers):
        return answers[call]
    raise ValueError(n)


def longest_interval(ttl, misses, attempt, margin):
    interval = (ttl - margin - attempt) / (misses + 1) - attempt
    if interval <= 0:
        raise ValueError(f"the interval would be {interval}")
    return interval


def keep_alive(lock, lease, interval, stop, on_lost):
    while True:
        left = lease.deadline - time.monotonic()
        if stop.wait(max(0.0, min(interval, left))):
            return
        if time.monotonic() >= lease.deadline:
            on_lost("the lease ran out")
            return
        try:
            lease = lock.extend(lease)
        except LeaseLost as lost:
            on_lost(str(lost))
            return
        except (ConnectionError, TimeoutError):
            pass
