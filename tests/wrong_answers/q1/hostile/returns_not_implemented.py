"""expect: not attempted

It should say «not attempted yet» of each function, and give no points.
"""


def tolerated_misses(n):
    return NotImplemented


def longest_interval(ttl, misses, attempt, margin):
    return NotImplemented


def keep_alive(lock, lease, interval, stop, on_lost):
    return NotImplemented
