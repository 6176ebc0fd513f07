"""expect: not attempted

It should say «not attempted yet» of each function, and give no points.
"""


def tolerated_misses(n):
    raise NotImplementedError


def longest_interval(ttl, misses, attempt, margin):
    raise NotImplementedError("later")


def keep_alive(lock, lease, interval, stop, on_lost):
    raise NotImplementedError()
