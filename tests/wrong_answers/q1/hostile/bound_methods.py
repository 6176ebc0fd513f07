"""expect: full

The three names are methods of one object, and callable like functions.
"""

import time

from redis.exceptions import ConnectionError, TimeoutError

from labkit.locks import LeaseLost


class Answers:
    def tolerated_misses(self, n):
        if n < 2:
            raise ValueError(f"n must be at least 2, not {n}")
        return n - 2

    def longest_interval(self, ttl, misses, attempt, margin):
        interval = (ttl - margin - attempt) / (misses + 1) - attempt
        if interval <= 0:
            raise ValueError(f"the interval would be {interval}")
        return interval

    def keep_alive(self, lock, lease, interval, stop, on_lost):
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


answers = Answers()
tolerated_misses = answers.tolerated_misses
longest_interval = answers.longest_interval
keep_alive = answers.keep_alive
