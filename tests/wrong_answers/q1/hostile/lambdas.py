"""expect: full

Lambdas are functions like others.
"""

import time

from redis.exceptions import ConnectionError, TimeoutError

from labkit.locks import LeaseLost


def refuse(why):
    raise ValueError(why)


tolerated_misses = lambda n: n - 2 if n >= 2 else refuse(n)  # noqa: E731


def positive(number):
    return number if number > 0 else refuse(number)


longest_interval = lambda ttl, misses, attempt, margin: positive(  # noqa: E731
    (ttl - margin - attempt) / (misses + 1) - attempt
)


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
