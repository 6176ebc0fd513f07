"""loses: unlock last

On TERM the running step is left to a thread of its own, and the lock is given back.
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
        if stopping.is_set():
            return "stopped"
        if not keeper.holds():
            return "lost"
        results = []
        worker = threading.Thread(target=lambda step=step, results=results: results.append(step()), daemon=True)
        worker.start()
        while worker.is_alive():
            worker.join(keeper.lock.ttl / 100)
            if stopping.is_set():
                return "stopped"
        value = results[0]
        if not keeper.holds():
            return "lost"
        write(value)
    return "done"


def run(lock, steps, write, stopping):
    lease = wait_for(lock, stopping)
    if lease is None:
        return "stopped"
    keeper = Keeper(lock, lease)
    outcome = work(keeper, steps, write, stopping)
    keeper.end()
    give_back(lock, keeper.lease)
    return outcome
