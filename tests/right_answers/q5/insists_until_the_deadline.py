"""A renewal that fails is tried again at once, with short waits, until the lease is over or TERM comes."""

import time
from contextlib import suppress

from redis.exceptions import RedisError

from labkit.locks import LeaseLost

DONE, STOPPED, LOST = "done", "stopped", "lost"


def run(lock, steps, write, stopping):
    lease = first_lease(lock, stopping)
    if lease is None:
        return STOPPED
    state, position = "renew", 0
    while state not in (DONE, STOPPED, LOST):
        if position == len(steps):
            state = DONE
        elif stopping.is_set():
            state = STOPPED
        elif time.monotonic() >= lease.deadline:
            state = LOST
        elif state == "renew":
            state, lease = renewed(lock, lease, stopping)
        else:
            value = steps[position]()
            if time.monotonic() < lease.deadline:
                write(value)
                position += 1
                state = "renew"
    with suppress(Exception):
        lock.release(lease)
    return state


def renewed(lock, lease, stopping):
    try:
        return "work", lock.extend(lease)
    except LeaseLost:
        return LOST, lease
    except RedisError:
        stopping.wait(lock.ttl / 100)
        return "renew", lease


def first_lease(lock, stopping):
    while not stopping.is_set():
        try:
            lease = lock.acquire(lock.ttl / 4)
        except RedisError:
            stopping.wait(lock.ttl / 100)
        else:
            if lease is not None:
                return lease
    return None
