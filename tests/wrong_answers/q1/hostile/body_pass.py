"""expect: not attempted

It should say «not attempted yet» of each function, and give no points.
"""


def tolerated_misses(n):
    pass


def longest_interval(ttl, misses, attempt, margin):
    pass


def keep_alive(lock, lease, interval, stop, on_lost):
    pass
