"""Renewal on a real server: what a watchdog adds to a lock, and whether one process can keep a thousand locks.

A pair of acquire and release under a watchdog is compared with SafeLock's in the same rounds; all pairs share one dog,
as a program's locks would. The thousand locks are held for several TTLs of real time and renewed by a fixed number of
threads; a deadline that is missed is told by the dog itself, so that none goes unseen.
"""

from __future__ import annotations

import threading
import time
from typing import Any

from labkit.live import RedisNotFound, RedisServer
from labkit.locks import SafeLock, Watchdog, WatchdogLock

from .common import Figure, Row, interleave, ratios, summary
from .locks import ABSENT, PAIRS, TTL, Pair, _several

LOCKS, HELD, SHORT_TTL, THREADS = 1_000, 6.0, 2.0, 4  # locks, seconds, seconds, threads


def watchdog(rounds: int) -> list[Row]:
    """Acquire and release under a watchdog against SafeLock's."""
    try:
        with RedisServer() as server:
            client, dog = server.client(), Watchdog()
            pairs = {
                "safe": _pair(SafeLock(client, "bench:safe", TTL)),
                "watchdog": _pair(WatchdogLock(client, "bench:watchdog", TTL, dog=dog)),
            }
            times = interleave(rounds * 20, time.perf_counter, **{name: _several(p) for name, p in pairs.items()})
    except RedisNotFound:
        return [Row("WatchdogLock / SafeLock", None, "×", 1.5, note=ABSENT)]
    micro = [seconds / PAIRS * 1e6 for seconds in times["watchdog"]]
    rows = [summary("WatchdogLock / SafeLock", ratios(times["watchdog"], times["safe"]), unit="×", goal=1.5)]
    return [*rows, summary("WatchdogLock, one pair", micro, unit="µs")]


def thousand(rounds: int) -> list[Row]:
    """How many of a thousand locks miss a deadline. One holding is one measurement: `rounds` is not used."""
    try:
        with RedisServer() as server:
            lost, renewed, threads = _held(server)
    except RedisNotFound:
        return [Row("of 1,000 locks held, lost", None, "", 0.0, note=ABSENT)]
    note = (
        f"TTL {SHORT_TTL:g} s, held for {HELD:g} s, {renewed:,} renewals by at most {THREADS} threads and a timekeeper"
    )
    note += f"; the process had {threads} threads more"
    return [Row("of 1,000 locks held, lost", float(lost), "", 0.0, note=note)]


def _held(server: RedisServer) -> tuple[int, int, int]:
    """How many were lost, how often they were renewed, and how many threads that took."""
    client, dog, lost, renewed = server.client(), Watchdog(THREADS), list[str](), list[None]()
    before = threading.active_count()

    class Counted(SafeLock):
        def extend(self, lease: Any) -> Any:
            renewed.append(None)
            return super().extend(lease)

    options: dict[str, Any] = {"on_lost": lost.append, "dog": dog, "kind": Counted}
    locks = [WatchdogLock(client, f"bench:held:{n}", SHORT_TTL, **options) for n in range(LOCKS)]
    for lock in locks:
        lock.lock._prepared = True  # the scripts are there after the first: a thousand would be sent them
    locks[0].lock._prepared = False
    leases = [lock.acquire(0) for lock in locks]
    time.sleep(HELD)
    threads = threading.active_count() - before
    for lock, lease in zip(locks, leases, strict=True):
        assert lease is not None
        if not lock.watched(lease).lost.is_set():
            lock.release(lease)
    return len(lost), len(renewed), threads


def _pair(lock: Any) -> Pair:
    def pair() -> None:
        lease = lock.acquire(0)
        assert lease is not None
        lock.release(lease)

    return pair


FIGURES: dict[str, Figure] = {"watchdog": watchdog, "thousand": thousand}
