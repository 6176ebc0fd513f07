"""loses: unlocked

It never gives the lock back: the TTL does.
"""

import time

from redis.exceptions import ConnectionError, TimeoutError

from labkit.locks import LeaseLost


def wait_for(lock, stopping):
    while not stopping.is_set():
        try:
            lease = lock.acquire(lock.ttl / 4)
        except (ConnectionError, TimeoutError):
            stopping.wait(lock.ttl / 20)
        else:
            if lease is not None:
                return lease
    return None


def run(lock, steps, write, stopping):
    lease = wait_for(lock, stopping)
    if lease is None:
        return "stopped"
    outcome = "done"
    for step in steps:
        if stopping.is_set():
            outcome = "stopped"
            break
        try:
            lease = lock.extend(lease)
        except LeaseLost:
            return "lost"
        except (ConnectionError, TimeoutError):
            pass
        value = step()
        if time.monotonic() >= lease.deadline:
            return "lost"
        write(value)
    return outcome
