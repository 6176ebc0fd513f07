"""The steps run in a pool of one thread; this one renews while it waits for them, and always waits for them."""

import time
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet

import redis

from labkit.locks import LeaseLost

TRANSIENT = (redis.exceptions.ConnectionError, redis.exceptions.TimeoutError)


class Worker:
    def __init__(self, lock, lease, pool):
        self.lock, self.lease, self.pool, self.lost = lock, lease, pool, False
        self.due = time.monotonic() + lock.ttl / 4

    def renew(self):
        try:
            self.lease = self.lock.extend(self.lease)
        except LeaseLost:
            self.lost = True
        except TRANSIENT:
            pass
        self.due = time.monotonic() + self.lock.ttl / 4

    def do(self, task, *args):
        future = self.pool.submit(task, *args)
        while True:
            try:
                return future.result(timeout=max(0.0, self.due - time.monotonic()))
            except NotYet:
                if not self.lost:
                    self.renew()
                else:
                    return future.result()

    @property
    def alive(self):
        return not self.lost and time.monotonic() < self.lease.deadline


def run(lock, steps, write, stopping):
    lease = None
    while not stopping.is_set() and lease is None:
        try:
            lease = lock.acquire(0)
        except TRANSIENT:
            lease = None
        if lease is None:
            stopping.wait(lock.ttl / 20)
    if lease is None:
        return "stopped"
    with ThreadPoolExecutor(max_workers=1) as pool:
        outcome = work(Worker(lock, lease, pool), list(steps), write, stopping)
    try:
        lock.release(lease)
    except (LeaseLost, *TRANSIENT):
        pass
    return outcome


def work(worker, steps, write, stopping):
    for step in steps:
        if stopping.is_set():
            return "stopped"
        if not worker.alive:
            return "lost"
        value = worker.do(step)
        if not worker.alive:
            return "lost"
        worker.do(write, value)
    return "done"
