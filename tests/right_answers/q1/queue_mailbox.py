"""A worker thread that does nothing but renew; orders go to it and results come back through queues."""

import queue
import threading
import time

from redis.exceptions import RedisError

from labkit.locks import LeaseLost


def tolerated_misses(n):
    if n < 2:
        raise ValueError(n)
    chances = len([k for k in range(1, n + 1) if k < n])  # attempts at k·TTL/n, strictly before the TTL
    return chances - 1


def longest_interval(ttl, misses, attempt, margin):
    room = ttl - margin
    room -= attempt  # of the good one that ends the row
    room -= attempt * (misses + 1)  # of the good one that begins it, and of the bad ones
    if room <= 0:
        raise ValueError("ttl is too short for these attempts")
    return room / (misses + 1)


def worker(lock, stop, orders, results):
    """Renews each lease that is ordered, until None is; answers with a word and what belongs to it."""
    while (lease := orders.get()) is not None:
        try:
            if stop.is_set() or time.monotonic() >= lease.deadline:
                results.put(("too late", lease))
            else:
                results.put(("renewed", lock.extend(lease)))
        except LeaseLost as lost:
            results.put(("lost", str(lost)))
        except RedisError:
            results.put(("unknown", lease))
        except BaseException as interrupt:
            results.put(("interrupted", interrupt))


def keep_alive(lock, lease, interval, stop, on_lost):
    orders, results = queue.Queue(), queue.Queue()
    helper = threading.Thread(target=worker, args=(lock, stop, orders, results), daemon=True)
    helper.start()
    try:
        while True:
            if stop.wait(max(0.0, min(interval, lease.deadline - time.monotonic()))):
                return
            orders.put(lease)
            word, value = results.get()
            if word == "interrupted":
                raise value
            if word == "lost":
                on_lost(value)
                return
            lease = value
            if time.monotonic() >= lease.deadline and not stop.is_set():
                on_lost("expired")
                return
    finally:
        orders.put(None)
        helper.join()
