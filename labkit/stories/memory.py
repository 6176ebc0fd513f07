"""Section two, a server whose memory is full: pages of a cache keep coming, and it throws away what expires soonest.
Next to a cache that is a lock, whatever its TTL (E07)."""

from __future__ import annotations

import time
from dataclasses import dataclass
from math import inf
from types import SimpleNamespace
from typing import Any

from ..locks import SafeLock
from ..story import Param, Story
from ._actors import TTL
from .set_nx_px import starting

SECONDS_OF_A_PAGE = 3600  # how long a page of the cache may live: much longer than any lease


@dataclass(frozen=True)
class FullMemory:
    """A server with room for `most` keys and the policy volatile-ttl: to make room for a SET of one key more, it throws
    away whichever key expires soonest. A real one counts bytes and draws a sample of its keys."""

    server: str
    most: int

    def arm(self, world: Any) -> None:
        server = world.server_called(self.server)

        def make_room(packet: Any) -> None:
            there = set(server.keys())
            if packet.server != self.server or packet.name != "SET" or packet.text.split()[1] in there:
                return
            if len(there) >= self.most:
                ends = {key: seen[1] or inf for key, (seen, _) in server.copies(there).items()}
                world.evict(self.server, min(sorted(ends), key=lambda key: ends[key]))

        world.trigger(make_room)


def working(at: float, seconds: float) -> Any:
    """A client that comes at second `at`, and works for `seconds` under the lock."""
    work = starting(at, seconds)
    return lambda me, p: work(me, p, me.lock(SafeLock(me.redis(), "stock", p.ttl, poll=1.0)))


def caches_pages(me: Any, p: SimpleNamespace) -> None:
    """C: knows nothing of locks, and keeps a page every half a second."""
    redis = me.redis("redis" if p.cache == "with the locks" else "cache")
    for number in range(8):
        time.sleep(0.5)
        redis.set(f"page:{number}", "…", ex=SECONDS_OF_A_PAGE)


full_memory = Story(
    name="full-memory",
    claim="The memory of a server is full, and pages of a cache keep coming. Which key does it throw away?",
    params={
        "cache": Param("with the locks", choices=("with the locks", "apart"), unit="", label="the cache lives"),
        "ttl": TTL,
    },
    actors={"A": working(0.0, 6.0), "B": working(1.0, 5.0), "C": caches_pages},
    faults=lambda p: [FullMemory("redis", most=5), FullMemory("cache", most=5)],
    servers=("redis", "cache"),
)
