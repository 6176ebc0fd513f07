"""loses: waiting for the lock

It waits for one TTL, then somebody else is taken to be at work.
"""

import time
from contextlib import suppress

from redis.exceptions import ConnectionError, TimeoutError

from labkit.locks import LeaseLost


def give_back(lock, lease):
    with suppress(LeaseLost, ConnectionError, TimeoutError):
        lock.release(lease)


def run(lock, steps, write, stopping):
    try:
        lease = lock.acquire(lock.ttl / 4)
    except (ConnectionError, TimeoutError):
        lease = None
    if lease is None:
        return "stopped" if stopping.is_set() else "lost"
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
    give_back(lock, lease)
    return outcome
