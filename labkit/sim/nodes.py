"""The nodes of a world and its clients: processes that run ordinary code, each with a wall clock of its own."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, cast

from redis import ConnectionPool, Redis

from .etcd import Etcd
from .etcdwire import EtcdWire
from .hub import MICRO
from .standins import EPOCH
from .task import Task
from .wire import Connection, WorldConnection
from .zkclient import ZooKeeperClient

if TYPE_CHECKING:
    from .server import Server
    from .world import World


class Clock:
    """A wall clock: where it stood at virtual time `since`, and how fast it goes (1.0: as fast as time)."""

    def __init__(self) -> None:
        self.base, self.since, self.rate = EPOCH, 0, 1.0

    def wall(self, now: int) -> float:
        return self.base + (now - self.since) / MICRO * self.rate

    def set(self, now: int, step: float = 0.0, rate: float | None = None) -> None:
        self.base, self.since = self.wall(now) + step, now
        self.rate = self.rate if rate is None else rate

    def when(self, wall: float) -> int:
        """The virtual microsecond at which this clock will first show more than `wall`."""
        return self.since + int((wall - self.base) * MICRO / self.rate) + 1


class Node:
    """Anything that can be paused, crash, and have a clock of its own."""

    ours = False

    def __init__(self, world: World, name: str) -> None:
        self.world, self.name = world, name
        self.clock = Clock()
        self.paused = False
        self.paused_since = self.paused_until = self.suspended_until = 0
        self.crashed = False
        self.held_back: deque[Task] = deque()
        self.random = random.Random(f"{world.seed}/{name}")

    def __repr__(self) -> str:
        return f"<{type(self).__name__.lower()} {self.name}>"

    def wall(self) -> float:
        """What this node's wall clock shows."""
        return self.clock.wall(self.world.hub.now)

    def thread_died(self, thread: str, error: Exception) -> None:
        self.world.died(self.name, thread, error)


class WorldRedis(Redis):
    """redis.Redis, hashed by number: libraries keep clients in sets, and a set must not depend on addresses."""

    number = 0

    def __hash__(self) -> int:
        return self.number


_KEPT = ("retry", "socket_timeout", "socket_connect_timeout")  # what Redis() sets and a bare pool forgets
_DEFAULTS = {k: v for k, v in Redis().connection_pool.connection_kwargs.items() if k in _KEPT}


class Client(Node):
    """A client process. Its code is what `start` is given: a function called with the client itself."""

    def __init__(self, world: World, name: str) -> None:
        super().__init__(world, name)
        self.connections: list[Connection] = []
        self.counts: dict[tuple[str, str], int] = {}

    def start(self, fn: Callable[..., Any], *args: Any, lane: str | None = None) -> None:
        """Runs `fn(client, *args)` from the present moment on. `lane` names a further thread of this client, such as
        "T2"; its events stand in a lane of their own."""
        name = f"{self.name}/{lane}" if lane else self.name
        self.world.start(self, name, fn, (self, *args))

    def redis(self, server: str = "redis", **options: Any) -> Redis:
        """A genuine redis-py client of `server`, with redis-py's own defaults (10 retries, time-outs of 5 s) unless
        `options` say otherwise, for example `retry=Retry(NoBackoff(), 0)` or `socket_timeout=0.05`. Raises ValueError
        for protocol=3."""
        client: Redis = self.world.inside(self, self._redis, self.world.server(server), options)
        return client

    def _redis(self, server: Server, options: dict[str, Any]) -> Redis:
        if str(options.get("protocol", 2)) != "2":
            raise ValueError("The servers of a world speak RESP2: leave `protocol` out. A lock reads the same in both.")
        ends: dict[str, Any] = {"client": self, "server": server, "protocol": 2, "driver_info": None}
        pool = ConnectionPool(connection_class=WorldConnection, **(ends | _DEFAULTS | options))
        client = cast(WorldRedis, WorldRedis.from_pool(pool))  # closed, it closes its connections, as Redis() does
        client.number = self.world.next_number()
        return client

    def wire(self, server: str, **options: Any) -> WorldConnection:
        """A bare connection of redis-py to any server of the world, for clients of services that are no Redis: the
        frames on the wire are RESP all the same."""
        ends: dict[str, Any] = {"client": self, "server": self.world.server(server), "protocol": 2, "driver_info": None}
        return WorldConnection(**(ends | options))

    def etcd(self, server: str = "etcd", timeout: float = 5.0) -> tuple[Callable[..., Any], Callable[..., Any]]:
        """What an EtcdClient needs to reach the service `server`, made at its first mention: `post` and `watch`.
        timeout: seconds to wait for a connection, and for an answer."""
        self.world.service(server, Etcd)
        wire = EtcdWire(self, server, timeout)
        return wire.post, wire.watch

    def zookeeper(self, server: str = "zk", timeout: float = 10.0) -> ZooKeeperClient:
        """A started client of the ensemble `server`, made at its first mention, with kazoo's method names. timeout: of
        its session, in seconds."""
        client: ZooKeeperClient = self.world.inside(self, ZooKeeperClient, self, server, timeout)
        return client

    def lock(self, lock: Any, key: str | None = None, ttl: float | None = None) -> Any:
        """Watches a lock, so that its calls become events; returns the same object. See `labkit.recording`."""
        return self.world.recorder.lock(lock, key, ttl)

    def store(self, store: Any, name: str | None = None) -> Any:
        """Watches a store, so that its reads and writes become events; returns the same object."""
        return self.world.recorder.store(store, name)

    def note(self, text: str) -> None:
        """Writes a sentence into the timeline, at this moment, in the caller's lane."""
        self.world.emit(self.world.lane() or self.name, "note", text, {})

    def thread_ended(self, threads: Iterable[Task]) -> None:
        """With the last thread that is no daemon the process ends: nothing of it runs any more, its connections
        close."""
        if not all(thread.ended or thread.daemon for thread in threads):
            return
        self.crashed = True
        for connection in list(self.connections):
            connection.close()

    def leaves(self, text: str) -> None:
        """Notes that the caller's code ends here and leaves what it holds behind: nobody works under it any more."""
        lane = self.world.lane() or self.name
        self.world.emit(lane, "note", text, {"left": self.world.recorder.latest(lane)})

    def lost(self, key: str, reason: str) -> None:
        """Notes that this client has learnt that its lease on `key` is gone: from here on it no longer believes."""
        grant = self.world.recorder.latest(self.world.lane() or self.name)
        self.world.emit(self.world.lane() or self.name, "lost", key, {"reason": reason, "grant": grant})

    def count(self, server: str, name: str) -> int:
        number = self.counts[server, name] = self.counts.get((server, name), 0) + 1
        return number
