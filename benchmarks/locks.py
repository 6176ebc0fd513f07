"""Acquire and release on a real server: SafeLock, the floor, and four locks that people use.

The floor is the least that a correct lock does: SET NX PX and the compare-and-delete by EVALSHA, each one call of the
same redis-py client, with a token made beforehand. All contenders are warm (scripts loaded, connections open, objects
made) and share one client and one private redis-server on a unix socket, where the network hides least. A round is a
few pairs of each. Time is the wall clock's, as most of it is spent waiting for the server's reply.
redlock-py is reported only: it makes its token of 22 random choices and sends the whole script at each release.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from labkit.live import RedisNotFound, RedisServer, find_binary
from labkit.locks import SafeLock

from .common import Figure, Row, interleave, ratios, summary

TTL = 10
PAIRS = 10  # of acquire and release in one round: long enough for the clock, short enough to share a busy moment
DELETE_IF_OURS = "return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('DEL', KEYS[1]) or 0"
PEERS = {"redis-py": "redis-py's Lock", "redis-lock": "python-redis-lock", "pottery": "pottery's Redlock"}
ABSENT = "no Redis server was found: `labkit doctor` says how to get one"

Pair = Callable[[], object]


def acquire_release(rounds: int) -> list[Row]:
    """SafeLock against the floor and against its peers, all in the same rounds."""
    try:
        with RedisServer(found=find_binary()) as server:
            pairs = contenders(server.client())
            times = interleave(rounds * 20, time.perf_counter, **{name: _several(p) for name, p in pairs.items()})
    except RedisNotFound:
        return [Row("SafeLock / floor", None, "×", 1.15, note=ABSENT)]
    safe = times["safe"]
    micro = [seconds / PAIRS * 1e6 for seconds in safe]
    rows = [summary("SafeLock / floor", ratios(safe, times["floor"]), unit="×", goal=1.15)]
    for name, title in PEERS.items():
        rows.append(summary(f"SafeLock / {title}", ratios(safe, times[name]), unit="×", goal=1.0, sense="below"))
    rows.append(summary("SafeLock / redlock-py", ratios(safe, times["redlock-py"]), unit="×"))
    return [*rows, summary("SafeLock, one pair", micro, unit="µs")]


def contenders(client: Any) -> dict[str, Pair]:
    """An acquire and a release by each lock, on keys of their own. Raises ImportError where a peer is not installed."""
    return {
        "floor": _floor(client),
        "safe": _safe(client),
        "redis-py": _object(client.lock("bench:redis-py", timeout=TTL)),
        "redis-lock": _redis_lock(client),
        "pottery": _pottery(client),
        "redlock-py": _redlock_py(client),
    }


def _several(pair: Pair) -> Pair:
    def several() -> None:
        for _ in range(PAIRS):
            pair()

    return several


def _floor(client: Any) -> Pair:
    sha, key, token, ms = client.script_load(DELETE_IF_OURS), "bench:floor", "5f2c" * 8, TTL * 1000

    def pair() -> None:
        assert client.set(key, token, nx=True, px=ms)
        assert client.evalsha(sha, 1, key, token)

    return pair


def _safe(client: Any) -> Pair:
    lock = SafeLock(client, "bench:safe", TTL)

    def pair() -> None:
        lease = lock.acquire(0)
        assert lease is not None
        lock.release(lease)

    return pair


def _object(lock: Any) -> Pair:
    def pair() -> None:
        assert lock.acquire(blocking=False)
        lock.release()

    return pair


def _redis_lock(client: Any) -> Pair:
    import redis_lock

    return _object(redis_lock.Lock(client, "bench:redis-lock", expire=TTL))


def _pottery(client: Any) -> Pair:
    from pottery import Redlock

    return _object(Redlock(key="bench:pottery", masters={client}, auto_release_time=TTL))


def _redlock_py(client: Any) -> Pair:
    import redlock

    lock = redlock.Redlock([client])

    def pair() -> None:
        lock.unlock(lock.lock("bench:redlock-py", TTL * 1000))

    return pair


FIGURES: dict[str, Figure] = {"locks": acquire_release}
