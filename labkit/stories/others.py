"""Other people's locks as rows of the matrix, unmodified, each with the defaults that its own documentation shows.
Three of them are development dependencies: where one is missing, its row says so when it is played.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

FIVE = ("n1", "n2", "n3", "n4", "n5")


@dataclass(eq=False)
class Foreign:
    """What a story asks of a lock, on top of one that is called otherwise. take: timeout -> the grant, or None.  give:
    grant -> None."""

    name: str
    ttl: float
    take: Callable[[float], Any]
    give: Callable[[Any], Any]

    def acquire(self, timeout: float) -> Any:
        return self.take(timeout)

    def release(self, grant: Any) -> None:
        self.give(grant)


def redis_py(clients: list[Any], name: str, ttl: float) -> Foreign:
    """redis.lock.Lock: SET NX PX, a token for each acquisition, compare and delete in Lua."""
    lock = clients[0].lock(name, timeout=ttl, sleep=ttl / 20)
    return Foreign(name, ttl, lambda timeout: lock.acquire(blocking_timeout=timeout) or None, lambda _: lock.release())


def python_redis_lock(clients: list[Any], name: str, ttl: float) -> Foreign:
    """redis_lock.Lock with auto_renewal: a thread that extends, waiting by BLPOP."""
    from redis_lock import Lock

    lock = Lock(clients[0], name, expire=int(ttl), auto_renewal=True)
    waiting = int(ttl) - 1  # its own limit: no longer than the expiry
    return Foreign(f"lock:{name}", ttl, lambda _: lock.acquire(timeout=waiting) or None, lambda _: lock.release())


def pottery(clients: list[Any], name: str, ttl: float) -> Foreign:
    """pottery.Redlock: all nodes at once, by a pool of threads."""
    from pottery import Redlock

    lock = Redlock(key=name, masters=set(clients), auto_release_time=ttl)
    return Foreign(
        f"redlock:{name}", ttl, lambda timeout: lock.acquire(timeout=timeout) or None, lambda _: lock.release()
    )


def redlock_py(clients: list[Any], name: str, ttl: float) -> Foreign:
    """redlock.Redlock: one node after the other; three tries, so the caller tries on."""
    from redlock import Redlock

    lock = Redlock(clients)
    return Foreign(name, ttl, lambda _: lock.lock(name, int(ttl * 1000)) or None, lock.unlock)
