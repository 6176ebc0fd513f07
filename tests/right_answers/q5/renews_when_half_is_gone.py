"""It renews when half of the lease is gone, before a step and before a write; if that fails, at the next chance."""

from contextlib import suppress
from time import monotonic

from redis.exceptions import ConnectionError, TimeoutError

from labkit.locks import LeaseLost


class Gone(Exception):
    pass


class Held:
    def __init__(self, lock, lease):
        self.lock = lock
        self.lease = lease

    def fresh(self):
        if self.lease.deadline - monotonic() < self.lock.ttl / 2:
            try:
                self.lease = self.lock.extend(self.lease)
            except LeaseLost:
                raise Gone from None
            except (ConnectionError, TimeoutError):
                pass
        if monotonic() >= self.lease.deadline:
            raise Gone

    def give_back(self):
        with suppress(LeaseLost, ConnectionError, TimeoutError):
            self.lock.release(self.lease)


def run(lock, steps, write, stopping):
    held = None
    while held is None:
        try:
            lease = None if stopping.is_set() else lock.acquire(lock.ttl / 5)
        except (ConnectionError, TimeoutError):
            stopping.wait(lock.ttl / 50)
            lease = None
        if lease is not None:
            held = Held(lock, lease)
        elif stopping.is_set():
            return "stopped"
    try:
        for step in steps:
            if stopping.is_set():
                return "stopped"
            held.fresh()
            value = step()
            held.fresh()
            write(value)
        return "done"
    except Gone:
        return "lost"
    finally:
        held.give_back()
