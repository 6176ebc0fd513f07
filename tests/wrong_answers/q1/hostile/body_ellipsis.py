"""expect: not attempted

It should say «not attempted yet» of each function, and give no points.
"""


def tolerated_misses(n: int) -> int: ...


def longest_interval(ttl: float, misses: int, attempt: float, margin: float) -> float: ...


def keep_alive(lock, lease, interval, stop, on_lost) -> None:
    """Renews until stopped."""
    ...
