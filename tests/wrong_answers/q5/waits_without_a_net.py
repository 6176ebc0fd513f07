"""loses: waiting for the lock, no exception

While it waits, nobody is there to catch what acquire raises.
"""

import time
from contextlib import suppress

from redis.exceptions import ConnectionError, TimeoutError

from labkit.locks import LeaseLost


def wait_for(lock, stopping):
    lease = None
    while lease is None and not stopping.is_set():
        lease = lock.acquire(lock.ttl / 4)
    return lease


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
