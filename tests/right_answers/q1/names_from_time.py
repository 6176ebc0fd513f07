"""Short, with the clock's function taken out of its module."""

from time import monotonic

from redis.exceptions import RedisError

from labkit.locks import LeaseLost


def tolerated_misses(n: int) -> int:
    if n < 2:
        raise ValueError(n)
    return n - 2


def longest_interval(ttl: float, misses: int, attempt: float, margin: float) -> float:
    if (interval := (ttl - margin - attempt) / (misses + 1) - attempt) > 0:
        return interval
    raise ValueError(interval)


def keep_alive(lock, lease, interval, stop, on_lost) -> None:
    deadline = lease.deadline
    while not stop.wait(max(min(interval, deadline - monotonic()), 0)):
        if monotonic() >= deadline:
            break
        try:
            deadline = lock.extend(lease).deadline
        except LeaseLost:
            break
        except RedisError:
            continue
    else:
        return
    on_lost(f"lost at {monotonic():.3f}, deadline {deadline:.3f}")
