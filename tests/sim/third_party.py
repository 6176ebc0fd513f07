"""Other people's locks, unmodified, in the stories in which a lock with a time to live must fail.

The holder takes a lock of ten seconds, stands still for 35, works on and gives it back; another client waits for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import redis_lock
from pottery import Redlock
from redis.exceptions import LockNotOwnedError

from labkit.faults import Pause
from labkit.story import Param, Story

TTL = 10


def redis_py(me: Any) -> Any:
    """redis-py's own lock: SET NX PX, polling, compare-and-delete in Lua."""
    return me.lock(me.redis().lock("stock", timeout=TTL))


def python_redis_lock(me: Any) -> Any:
    """python-redis-lock with its thread that renews after two thirds of the time, and a BLPOP to wait with."""
    lock = redis_lock.Lock(me.redis(socket_timeout=None), "stock", expire=TTL, auto_renewal=True)
    return me.lock(lock, key="lock:stock")


class WatchedRedlock(Redlock):  # type: ignore[misc]
    """pottery's Redlock with room for a watched method; not a line of it is changed."""


def pottery(*servers: str) -> Callable[[Any], Any]:
    """pottery's Redlock over these servers, with its pool of threads."""

    def lock(me: Any) -> Any:
        masters = {me.redis(server) for server in servers}
        return me.lock(
            WatchedRedlock(key="stock", masters=masters, auto_release_time=TTL), key="redlock:stock", ttl=TTL
        )

    return lock


def holder(kind: Callable[[Any], Any], work: float) -> Any:
    def code(me: Any, p: SimpleNamespace) -> None:
        lock = kind(me)
        lock.acquire()
        time.sleep(work)
        try:
            lock.release()
            me.note("A gave it back")
        except Exception as error:
            me.note(f"A is told {type(error).__name__}")

    return code


def waiter(kind: Callable[[Any], Any]) -> Any:
    def code(me: Any, p: SimpleNamespace) -> None:
        time.sleep(0.5)
        lock = kind(me)
        while True:  # it takes the lock again and again, and has it when A comes back
            while not lock.acquire():
                time.sleep(0.1)
            time.sleep(4)
            lock.release()
            if me.world.now > 45:
                return

    return code


def story(name: str, kind: Callable[[Any], Any], work: float = 2.0, servers: tuple[str, ...] = ("redis",)) -> Story:
    """A works for `work` seconds and stands still for `pause` of them; B wants the lock too."""
    return Story(
        name=name,
        claim="A stands still in the middle of its work. How many think that they hold the lock?",
        params={"pause": Param(35.0, 0.0, 60.0)},
        actors={"A": holder(kind, work), "B": waiter(kind)},
        faults=lambda p: [Pause("A", lasting=p.pause, at=1.0)] if p.pause else [],
        servers=servers,
        until=150.0,
    )


STORIES = {
    "redis-py": (story("redis-py", redis_py), LockNotOwnedError),
    "python-redis-lock": (story("python-redis-lock", python_redis_lock), redis_lock.NotAcquired),
}
