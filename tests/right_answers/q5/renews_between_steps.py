"""One thread: before each step it renews, once; before each write it looks at the clock."""

import time

from redis.exceptions import ConnectionError, TimeoutError

from labkit.locks import LeaseLost


def run(lock, steps, write, stopping):
    lease = None
    while lease is None:
        if stopping.is_set():
            return "stopped"
        try:
            lease = lock.acquire(lock.ttl / 4)
        except (ConnectionError, TimeoutError):
            stopping.wait(lock.ttl / 20)
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
    try:
        lock.release(lease)
    except Exception as error:
        print("release:", error)
    return outcome
