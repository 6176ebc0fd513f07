"""The nodes of a world: clients that run ordinary code, servers that keep keys, each with its own wall clock."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from redis import ConnectionPool, Redis

from .hub import MICRO, Task
from .redisserver import Database, Session
from .substitute import EPOCH
from .wire import Connection, Packet, WorldConnection

if TYPE_CHECKING:
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
        self.crashed = False
        self.held_back: deque[Task] = deque()
        self.random = random.Random(f"{world.seed}/{name}")

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
        `options` say otherwise, for example `retry=Retry(NoBackoff(), 0)` or `socket_timeout=0.05`."""
        client: Redis = self.world.inside(self, self._redis, self.world.server(server), options)
        return client

    def _redis(self, server: Server, options: dict[str, Any]) -> Redis:
        ends: dict[str, Any] = {"client": self, "server": server, "protocol": 2, "driver_info": None}
        pool = ConnectionPool(connection_class=WorldConnection, **(ends | _DEFAULTS | options))
        client = WorldRedis(connection_pool=pool)
        client.number = self.world.next_number()
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

    def lost(self, key: str, reason: str) -> None:
        """Notes that this client has learnt that its lease on `key` is gone: from here on it no longer believes."""
        grant = self.world.recorder.latest(self.world.lane() or self.name)
        self.world.emit(self.world.lane() or self.name, "lost", key, {"reason": reason, "grant": grant})

    def count(self, server: str, name: str) -> int:
        number = self.counts[server, name] = self.counts.get((server, name), 0) + 1
        return number


class Line:
    """The server's end of one connection: what has arrived and the session that executes it."""

    def __init__(self, connection: Connection | None) -> None:
        self.connection = connection
        self.inbox: deque[Packet | None] = deque()
        self.session: Session | None = None
        self.task: Task | None = None
        self.busy = False

    def take(self, packet: Packet | None) -> None:
        """A request, or None: the end of the stream, which also ends a command that waits."""
        assert self.task is not None
        self.inbox.append(packet)
        if packet is None and self.busy:
            self.task.hub.kill(self.task)
        elif not self.busy:
            self.task.hub.wake(self.task)

    def next(self) -> Packet | None:
        assert self.task is not None
        self.busy = False
        while not self.inbox:
            self.task.hub.park()
        self.busy = True
        return self.inbox.popleft()


class Server(Node):
    """A Redis server. What it says of its keys is the truth of the run; every change of it is an event."""

    ours = True

    def __init__(self, world: World, name: str, version: tuple[int, ...] = (7, 0)) -> None:
        super().__init__(world, name)
        self.up = True
        self._seen: dict[str, tuple[str, float | None, dict[str, Any]]] = {}
        self._lines: dict[Connection, Line] = {}
        self._version = version
        self.database: Database = world.inside(self, Database, version)

    # -- packets -----------------------------------------------------------------------------------------------

    def arrive(self, connection: Connection, packet: Packet) -> None:
        """A request has reached this server."""
        if not self.up or connection.ended:
            self.world.lost(packet)
            return
        if connection not in self._lines:
            self._lines[connection] = Line(connection)
            self._lines[connection].task = self.world.hub.spawn(self, self.name, self._serve, self._lines[connection])
        self._lines[connection].take(packet)

    def again(self, packet: Packet) -> None:
        """The same request once more, on a connection whose replies nobody reads."""
        if self.up:
            line = Line(None)
            line.task = self.world.hub.spawn(self, self.name, self._serve, line)
            line.take(packet)
            line.take(None)

    def hang_up(self, connection: Connection) -> None:
        """The client's end is closed, and all that it had sent has arrived: the session ends, also while it waits."""
        line = self._lines.pop(connection, None)
        if line is not None:
            line.take(None)

    def _serve(self, line: Line) -> None:
        """The life of one session."""
        line.session = self.database.session()
        while (packet := line.next()) is not None:
            self._execute(line, packet)
        line.session.close()

    def _execute(self, line: Line, packet: Packet) -> None:
        assert line.session is not None
        emit = self.world.emit
        arrived = emit(self.name, "deliver", packet.name, {"from": packet.lane}, packet.seq)
        line.session.execute(packet.data)
        replies = line.session.replies()
        data = {"keys": self._changes(packet), "reply": _brief(replies)}
        applied = emit(self.name, "apply", packet.text, data, arrived)
        self._answer(line, packet, replies, applied)
        for other in list(self._lines.values()):  # messages of channels, and answers to those that waited
            if other is not line and other.session is not None:
                self._answer(other, packet, other.session.replies(), applied)

    def _answer(self, line: Line, packet: Packet, replies: list[bytes], applied: int) -> None:
        connection = line.connection
        for data in replies if connection is not None else ():
            assert connection is not None
            reply = replace(packet, direction="reply", client=connection.client.name, seq=applied, data=data)
            connection.carry(reply, connection.arrive)

    # -- keys --------------------------------------------------------------------------------------------------

    def _changes(self, packet: Packet | None) -> dict[str, Any]:
        """What differs from what was last seen; who wrote a value keeps it while the value stays."""
        changes: dict[str, Any] = {}
        present = set()
        for key, value, expireat in self.database.keys():
            present.add(key)
            before = self._seen.get(key)
            if before is not None and before[0] == value and before[1] == expireat:
                continue
            if before is not None and before[0] == value:
                owner, grant = before[2]["owner"], before[2]["grant"]
            else:
                owner, grant = (packet.lane, packet.op) if packet else (self.name, None)
            changes[key] = self._state(key, value, expireat, owner, grant)
        for key in [key for key in self._seen if key not in present]:
            del self._seen[key]
            changes[key] = None
        return changes

    def _state(self, key: str, value: str, expireat: float | None, owner: str, grant: int | None) -> dict[str, Any]:
        until = None
        if expireat is not None:
            due = self.clock.when(expireat)
            until = round(due / MICRO, 6)
            self.world.hub.at(max(due, self.world.hub.now), self._expire, (key, value, expireat))
        state = {"value": value, "until": until, "owner": owner, "grant": grant}
        self._seen[key] = (value, expireat, state)
        return state

    def _expire(self, of: tuple[str, str, float]) -> None:
        """At the moment when the clock should pass a key's expiry: if it has, the key is gone."""
        key, value, expireat = of
        seen = self._seen.get(key)
        if seen is None or seen[:2] != (value, expireat) or not self.up:
            return
        now = self.world.hub.now
        if not expireat < self.clock.wall(now):  # a rounding error early, or the clock was set back
            self.world.hub.at(max(self.clock.when(expireat), now + 1), self._expire, of)
            return
        del self._seen[key]
        self.world.emit(self.name, "expire", key, {"keys": {key: None}})

    # -- what may befall it ------------------------------------------------------------------------------------

    def clock_changed(self) -> dict[str, Any]:
        """After a step of the clock: the keys' new expiries, as changes."""
        changes: dict[str, Any] = {}
        for key, (value, expireat, state) in list(self._seen.items()):
            if expireat is not None and self.clock.wall(self.world.hub.now) <= expireat:
                changes[key] = self._state(key, value, expireat, state["owner"], state["grant"])
            elif expireat is not None:
                del self._seen[key]
                changes[key] = None
        return changes

    def stop(self) -> None:
        """The process ends: connections break, requests under way are lost."""
        self.up = False
        for connection, line in list(self._lines.items()):
            line.inbox.clear()
            connection.end()
            self.hang_up(connection)

    def come_back(self, keep_data: bool) -> dict[str, Any]:
        """The process starts anew, with its data or empty; returns what changed."""
        self.database = self.world.inside(self, self.database.restarted, keep_data)
        self.up = True
        changes = {} if keep_data else dict.fromkeys(self._seen)
        if not keep_data:
            self._seen.clear()
        return changes | self.clock_changed()


def _brief(replies: list[bytes]) -> str:
    text = b" ".join(replies).replace(b"\r\n", b" ").strip().decode("utf-8", "backslashreplace")
    return text if len(text) <= 40 else text[:39] + "…"
