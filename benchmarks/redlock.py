"""Redlock on five real servers: ours, the floor, and two libraries that people use.

The floor is the least that a quorum lock does: over five connections that are held, a command to all and then the
answers of all, for the SET and for the compare-and-delete; packed by redis-py, with a token made beforehand and without
a deadline. All contenders are warm and share one client a server; each server is a redis-server of its own on a unix
socket, where the network hides least. Time is the wall clock's, for most of it is spent waiting.
redlock-py asks one node after the other; pottery asks all at once, with a pool of threads.
"""

from __future__ import annotations

import time
from contextlib import ExitStack
from typing import Any

from labkit.live import RedisNotFound, RedisServer, find_binary
from labkit.locks import Redlock

from .common import Figure, Row, interleave, ratios, summary
from .locks import ABSENT, DELETE_IF_OURS, PAIRS, TTL, Pair, _several

NODES = 5


def redlock(rounds: int) -> list[Row]:
    """Ours against the floor and against the libraries, all in the same rounds."""
    try:
        with ExitStack() as stack:
            found = find_binary()
            clients = [stack.enter_context(RedisServer(found=found)).client() for _ in range(NODES)]
            pairs = contenders(clients)
            times = interleave(rounds * 10, time.perf_counter, **{name: _several(p) for name, p in pairs.items()})
    except RedisNotFound:
        return [Row("Redlock / floor", None, "×", 1.6, note=ABSENT)]
    ours, floor = times["ours"], times["floor"]
    note = f"the floor took {_micro(floor)} µs a pair"
    return [
        summary("Redlock / floor", ratios(ours, floor), unit="×", goal=1.6, note=note),
        summary("redlock-py / Redlock", ratios(times["redlock-py"], ours), unit="×", goal=3.0, sense="at least"),
        summary("pottery's Redlock / Redlock", ratios(times["pottery"], ours), unit="×", goal=10.0, sense="at least"),
        summary("Redlock, one pair", [seconds / PAIRS * 1e6 for seconds in ours], unit="µs"),
    ]


def contenders(clients: list[Any]) -> dict[str, Pair]:
    """An acquire and a release by each, on keys of their own. Raises ImportError where a peer is not installed."""
    return {
        "floor": _floor(clients),
        "ours": _ours(clients),
        "redlock-py": _redlock_py(clients),
        "pottery": _pottery(clients),
    }


def _floor(clients: list[Any]) -> Pair:
    connections = [client.connection_pool.get_connection() for client in clients]
    key, token = "bench:floor", "5f2c" * 8
    for client in clients:
        sha = client.script_load(DELETE_IF_OURS)

    def ask(*words: str | int) -> list[Any]:
        packed = connections[0].pack_command(*words)
        for connection in connections:
            connection.send_packed_command(packed)
        return [connection.read_response() for connection in connections]

    def pair() -> None:
        assert all(ask("SET", key, token, "NX", "PX", TTL * 1000))
        assert all(ask("EVALSHA", sha, 1, key, token))

    return pair


def _ours(clients: list[Any]) -> Pair:
    lock = Redlock(clients, "bench:ours", TTL)

    def pair() -> None:
        lease = lock.acquire(0)
        assert lease is not None
        lock.release(lease)

    return pair


def _redlock_py(clients: list[Any]) -> Pair:
    import redlock

    lock = redlock.Redlock(clients)

    def pair() -> None:
        lock.unlock(lock.lock("bench:redlock-py", TTL * 1000))

    return pair


def _pottery(clients: list[Any]) -> Pair:
    from pottery import Redlock

    lock = Redlock(key="bench:pottery", masters=set(clients), auto_release_time=TTL)

    def pair() -> None:
        assert lock.acquire(blocking=False)
        lock.release()

    return pair


def _micro(seconds: list[float]) -> str:
    return f"{sorted(seconds)[len(seconds) // 2] / PAIRS * 1e6:.0f}"


FIGURES: dict[str, Figure] = {"redlock": redlock}
