"""A server as a node of the world: sessions that execute what arrives, and the truth about its keys.

The truth is read from the database after each command, so that whatever a client sends, the timeline shows what it
did. Expiry is seen at the moment when this server's own wall clock passes it. The database is that of Redis, or another
that keeps the contract of `data.py`, such as ZooKeeper's tree.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

from .data import Copied, Data
from .hub import MICRO
from .line import Line
from .nodes import Node
from .redisserver import Database
from .replication import Primary, Replica, answer_wait
from .wire import Connection, Packet

if TYPE_CHECKING:
    from .world import World

Seen = tuple[str, float | None, dict[str, Any]]  # of a key: value, expiry by the wall clock, what the timeline says


class Server(Node):
    """A server. What it says of its keys is the truth of the run; every change of it is an event."""

    ours = True

    def __init__(
        self,
        world: World,
        name: str,
        version: tuple[int, ...] = (7, 0),
        data: Callable[[Server], Data] | None = None,
    ) -> None:
        super().__init__(world, name)
        self.up = True
        self.life = 0
        self.role: Primary | Replica | None = None  # in a replication
        self.handlers: dict[str, Callable[[list[bytes]], Any]] = {}  # commands that something else answers
        self._seen: dict[str, Seen] = {}
        self._lines: dict[Connection, Line] = {}
        self.version = version
        self.database: Data = world.inside(self, data or (lambda _: Database(version)), self)

    # -- packets -----------------------------------------------------------------------------------------------

    def arrive(self, connection: Connection, packet: Packet) -> None:
        """A request has reached this server."""
        if not self.up or connection.life != self.life:
            self.world.network.lost(packet)
            return
        line = self._lines.get(connection)
        if line is None:
            line = self._lines[connection] = Line(connection)
            line.task = self.world.hub.spawn(self, self.name, self._serve, line)
        line.take(packet)

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
        line.lane, line.session.author = packet.lane, (packet.lane, packet.op)
        arrived = emit(self.name, "deliver", packet.name, {"from": packet.lane}, packet.seq)
        if packet.name == "WAIT":
            line.session.answer(answer_wait(self, line.wrote, packet.words))
        elif packet.name in self.handlers:
            line.session.answer(self.handlers[packet.name](packet.words))
        else:
            line.session.execute(packet.words, self.role.refusal() if self.role is not None else "")
        replies = line.session.replies()
        data = {"keys": self._changes(packet), "reply": _brief(replies)}
        applied = self.report("apply", packet.text, data, arrived)
        if self.role is not None and data["keys"]:
            line.wrote = self.role.offset
        self._answer(line, packet, replies, applied)
        self._tell_others(packet, applied, line)

    def stir(self, kind: str, name: str) -> None:
        """Something has changed without a command, such as the end of a session: the timeline is told, and those who
        wait for it."""
        seq = self.report(kind, name, {"keys": self._changes(None)})
        self._tell_others(Packet("request", "", self.name, "", name, 0, None, seq, [], self.name), seq)

    def _tell_others(self, packet: Packet, applied: int, but: Line | None = None) -> None:
        """Messages of channels, events that were watched for, and answers to those that waited."""
        for other in list(self._lines.values()):
            if other is not but and other.session is not None:
                self._answer(other, packet, other.session.replies(), applied)

    def _answer(self, line: Line, packet: Packet, replies: list[bytes], applied: int) -> None:
        connection, of = line.connection, packet
        if connection is None:  # a duplicate's: nobody reads them
            return
        place = connection.client.name, self.name, of.name, of.text, of.nth, of.op
        for data in replies:
            connection.carry(Packet("reply", *place, applied, of.words, line.lane, data), connection.arrive)

    # -- keys --------------------------------------------------------------------------------------------------

    def _changes(self, packet: Packet | None) -> dict[str, Any]:
        """What differs from what was last seen; who wrote a value keeps it while the value stays."""
        changes: dict[str, Any] = {}
        for key, value, expireat, author in list(self.database.news()):
            before = self._seen.get(key)
            if value is None or (expireat is not None and expireat < self.wall()):  # gone, or set to expire in the past
                if before is not None:
                    del self._seen[key]
                    changes[key] = None
                if value is not None:
                    self.database.delete(key)
            elif before is None or before[0] != value:
                owner, grant = author or ((packet.lane, packet.op) if packet else (self.name, None))
                changes[key] = self._state(key, value, expireat, owner, grant)
            elif before[1] != expireat:
                changes[key] = self._state(key, value, expireat, before[2]["owner"], before[2]["grant"])
        return changes

    def _state(self, key: str, value: str, expireat: float | None, owner: str, grant: int | None) -> dict[str, Any]:
        until = self.database.until(key)
        if expireat is not None:
            due = self.clock.when(expireat)
            until = round(due / MICRO, 6)
            self.world.hub.at(max(due, self.world.hub.now), self.expire, (key, value, expireat))
        state = {"value": value, "until": until, "owner": owner, "grant": grant}
        self._seen[key] = (value, expireat, state)
        return state

    def expire(self, of: tuple[str, str, float]) -> None:
        """At the moment when the clock should pass a key's expiry: if it has, the key is gone."""
        key, value, expireat = of
        seen = self._seen.get(key)
        if seen is None or seen[:2] != (value, expireat) or not self.up:
            return
        now = self.world.hub.now
        if not expireat < self.clock.wall(now):  # a rounding error early, or the clock was set back
            self.world.hub.at(max(self.clock.when(expireat), now + 1), self.expire, of)
            return
        self._gone(key)
        self.report("expire", key, {"keys": {key: None}})

    def report(self, kind: str, name: str, data: dict[str, Any], cause: int | None = None) -> int:
        """Writes an event of this server; the replicas, if any, are sent the keys that it changed."""
        seq = self.world.emit(self.name, kind, name, data, cause)
        if self.role is not None and data["keys"]:
            self.role.pass_on(kind, name, data["keys"], seq)
        return seq

    # -- replication -------------------------------------------------------------------------------------------

    def lead(self) -> Primary:
        """What this server is to its replicas, of which it may have none. Not for one that is a replica itself."""
        if self.role is None:
            self.role = Primary(self)
        assert isinstance(self.role, Primary), f"{self.name} is a replica."
        return self.role

    def keys(self) -> Collection[str]:
        """The keys that it has, by what it said last."""
        return self._seen.keys()

    def copies(self, keys: Collection[str]) -> dict[str, tuple[Seen, Copied]]:
        """Copies of those of `keys` that it has, for `adopt` of another server."""
        return {
            key: (self._seen[key], copied) for key, copied in self.database.copies(keys).items() if key in self._seen
        }

    def adopt(self, keys: Mapping[str, tuple[Seen, Copied] | None]) -> dict[str, Any]:
        """Stores another server's keys (None: gone), to expire by this server's clock; returns what changed."""
        changes: dict[str, Any] = {}
        for key, given in keys.items():
            if given is None:
                changes |= self.evict(key)
                continue
            (value, expireat, state), copied = given
            same, mine = (value, expireat, state["grant"]), self._seen.get(key)
            if mine is None or (*mine[:2], mine[2]["grant"]) != same:
                self.database.put(*copied)
                changes[key] = self._state(key, value, expireat, state["owner"], state["grant"])
        return changes

    # -- what may befall it ------------------------------------------------------------------------------------

    def clock_changed(self) -> dict[str, Any]:
        """After a step of the clock: the keys' new expiries, as changes."""
        changes: dict[str, Any] = {}
        for key, (value, expireat, state) in list(self._seen.items()):
            if expireat is not None and self.clock.wall(self.world.hub.now) <= expireat:
                changes[key] = self._state(key, value, expireat, state["owner"], state["grant"])
            elif expireat is not None:
                self._gone(key)
                changes[key] = None
        return changes

    def _gone(self, key: str) -> None:
        """Expired is deleted, as by Redis' own sweep: a clock set back later does not bring it back."""
        del self._seen[key]
        self.database.delete(key)

    def evict(self, key: str) -> dict[str, Any]:
        """Forgets a key; returns what changed."""
        self.database.delete(key)
        return {key: None} if self._seen.pop(key, None) else {}

    def stop(self) -> None:
        """The process ends: connections break, requests under way are lost."""
        self.up = False
        self.life += 1
        if self.role is not None:
            self.role.stopped()
        for connection in [c for client in self.world.clients.values() for c in client.connections if c.server is self]:
            connection.hang_up()
        for connection, line in list(self._lines.items()):
            line.inbox.clear()
            self.hang_up(connection)

    def halt(self) -> dict[str, Any]:
        """The machine is gone for good, and its data with it; returns what changed."""
        changes = dict.fromkeys(self._seen)
        self._seen.clear()
        self.stop()
        return changes

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
