"""On TERM the running step is waited for, and its value dropped. A grant that came too late is waited for again."""

import time
from contextlib import suppress

from redis.exceptions import RedisError

from labkit.locks import LeaseLost


def wait_for(lock, stopping):
    while not stopping.is_set():
        with suppress(RedisError):
            lease = lock.acquire(lock.ttl / 8)
            if lease is not None and lease.deadline > time.monotonic():
                return lease
        stopping.wait(lock.ttl / 100)
    return None


def run(lock, steps, write, stopping):
    lease = wait_for(lock, stopping)
    if lease is None:
        return "stopped"
    queue = list(reversed(steps))
    word = "done"
    while queue:
        if stopping.is_set():
            word = "stopped"
            break
        try:
            lease = lock.extend(lease)
        except LeaseLost:
            return "lost"
        except RedisError:
            pass
        value = queue.pop()()
        if stopping.is_set():
            word = "stopped"
            break
        if time.monotonic() >= lease.deadline:
            word = "lost"
            break
        write(value)
    with suppress(RedisError, LeaseLost):
        lock.release(lease)
    return word
