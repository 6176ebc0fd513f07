"""loses: stop obeyed, no late write

On TERM a hook ends what renews, as one that closes the lock's client does; the work goes on to its end, and under the
rest of the lease at that (E82).
"""

import threading
import time
from contextlib import suppress

from redis.exceptions import ConnectionError, TimeoutError

from labkit.locks import LeaseLost


class Keeper:
    def __init__(self, lock, lease):
        self.lock, self.lease, self.lost = lock, lease, False
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.renew, daemon=True)
        self.thread.start()

    def renew(self):
        while not self.over.wait(self.lock.ttl / 3):
            try:
                self.lease = self.lock.extend(self.lease)
            except LeaseLost:
                self.lost = True
                return
            except (ConnectionError, TimeoutError):
                pass

    def holds(self):
        return not self.lost and time.monotonic() < self.lease.deadline

    def end(self):
        self.over.set()
        self.thread.join()


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


def work(keeper, steps, write, stopping):
    for step in steps:
        if keeper.lost:
            return "lost"
        value = step()
        write(value)
    return "done"


def run(lock, steps, write, stopping):
    lease = wait_for(lock, stopping)
    if lease is None:
        return "stopped"
    keeper = Keeper(lock, lease)
    keeper.over = stopping
    outcome = work(keeper, steps, write, stopping)
    keeper.end()
    give_back(lock, keeper.lease)
    return outcome
