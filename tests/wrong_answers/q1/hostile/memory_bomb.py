"""expect: memory

It should say that keep_alive asked for more memory than an answer may have, and name the limit.
"""


def tolerated_misses(n):
    if n < 2:
        raise ValueError(f"n must be at least 2, not {n}")
    return n - 2


def longest_interval(ttl, misses, attempt, margin):
    interval = (ttl - margin - attempt) / (misses + 1) - attempt
    if interval <= 0:
        raise ValueError(f"the interval would be {interval}")
    return interval


def keep_alive(lock, lease, interval, stop, on_lost):
    history = []
    while not stop.is_set():
        history.append(bytearray(64 * 1024 * 1024))
