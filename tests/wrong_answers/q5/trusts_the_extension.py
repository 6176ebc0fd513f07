"""loses: no late write

It renews between the step and the write, and takes a lease that comes back for one that is good.
"""

import time
from contextlib import suppress

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


def give_back(lock, lease):
    with suppress(LeaseLost, ConnectionError, TimeoutError):
        lock.release(lease)


def run(lock, steps, write, stopping):
    lease = wait_for(lock, stopping)
    if lease is None:
        return "stopped"
    outcome = "done"
    for step in steps:
        if stopping.is_set():
            outcome = "stopped"
            break
        value = step()
        try:
            lease = lock.extend(lease)
        except LeaseLost:
            return "lost"
        except (ConnectionError, TimeoutError):
            if time.monotonic() >= lease.deadline:
                return "lost"
        write(value)
    give_back(lock, lease)
    return outcome
