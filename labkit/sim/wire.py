"""The network between a genuine redis-py client and a simulated server: byte streams in virtual time.

A connection is first in, first out in each direction, as TCP is. So a delay holds back all that comes behind it; a drop
silences its direction until the connection is closed; a duplicate is the same request arriving again on another
connection. A packet is one command or one reply. What becomes of it is up to rules: functions of the packet, asked in
the order of their coming; the first opinion wins.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from redis.connection import AbstractConnection

from .hub import micros
from .task import Task, current

if TYPE_CHECKING:
    from .nodes import Client
    from .server import Server

LATENCIES = (500, 200, 1_000, 2_000, 5_000, 20_000)  # microseconds one way; the first is the default
RESP = b"\r\n"


@dataclass(slots=True)
class Packet:
    """A command on its way to a server, or a reply on its way back. Rules read it and leave it as it is.

    name: the command's first word in capitals.  text: the command, shortened.  nth: its number among the client's
    requests of this name to this server, from 1.  op: the operation that it belongs to.  seq: its `send` event.
    words: the command as a server parses it.  data: a reply's bytes.
    """

    direction: Literal["request", "reply"]
    client: str
    server: str
    name: str
    text: str
    nth: int
    op: int | None
    seq: int
    words: list[bytes]
    lane: str
    data: bytes = b""

    @property
    def exchange(self) -> tuple[str, str, str, int]:
        """What a request and its reply have in common, and no other packet has."""
        return self.client, self.server, self.name, self.nth


@dataclass(frozen=True, slots=True)
class Fate:
    """What becomes of a packet: lost, or delivered `after` more seconds than usual, and perhaps `again` seconds after
    that on another connection."""

    lost: bool = False
    after: float = 0.0
    again: float | None = None


Rule = Callable[[Packet], Fate | None]


class Connection:
    """One connection, both ends of the stream. The client's end looks like a socket to redis-py."""

    def __init__(self, client: Client, server: Server) -> None:
        self.client, self.server = client, server
        self.network = client.world.network
        self.hub = client.world.hub
        self.life = server.life  # a server that has restarted knows nothing of connections from before
        self.open = True
        self._timeout: float | None = None
        self._partial = b""  # bytes of a command that is not complete yet
        self._received = b""
        self.ended = False  # the server has closed its end
        self._reader: Task | None = None
        self._silent = {"request": False, "reply": False}
        self._latest = {"request": 0, "reply": 0}

    # -- the client's end: what redis-py asks of a socket ------------------------------------------------------

    def settimeout(self, timeout: float | None) -> None:
        self._timeout = timeout

    def sendall(self, data: bytes) -> None:
        if self.hub.closed:
            self.hub.refuse()
        if not self.open or self.ended:
            raise BrokenPipeError(32, "Broken pipe")
        commands, self._partial = split(self._partial + data)
        for words in commands:
            self.network.send(self, words)

    def deliver(self, packet: Packet) -> None:
        """A request has reached the server."""
        self.server.arrive(self, packet)

    def recv(self, size: int) -> bytes:
        """What has arrived; b"" once the server has closed its end. Waits no longer than the time-out; one that was
        paused over its own deadline looks once more before it gives up."""
        if not self._received and not self.ended:
            if self._timeout == 0:
                raise TimeoutError("timed out")
            self._reader = current()
            try:
                self.hub.park(None if self._timeout is None else micros(self._timeout))
            finally:
                self._reader = None
            if not self._received and not self.ended:
                raise TimeoutError("timed out")
        data, self._received = self._received[:size], self._received[size:]
        return data

    def shutdown(self, how: int) -> None:
        pass

    def close(self) -> None:
        if self.open:
            self.open = False
            self.client.connections.remove(self)
            if not self.hub.closed:
                self.hub.at(self._due("request", 0), self.server.hang_up, self)

    # -- both directions ---------------------------------------------------------------------------------------

    def carry(self, packet: Packet, deliver: Callable[[Packet], None]) -> None:
        """Puts a packet on the wire and lets the rules decide."""
        way = packet.direction
        fate = self.network.fate(packet)
        if fate.lost or self._silent[way]:
            self._silent[way] = True
            self.network.lost(packet)
            return
        due = self._due(way, micros(fate.after) if fate.after else 0)
        self.hub.at(due, deliver, packet)
        if fate.again is not None and way == "request":
            self.hub.at(due + micros(fate.again), self.server.again, packet)

    def _due(self, way: str, extra: int) -> int:
        """When what is sent now will arrive: after its latency, and not before what was sent earlier."""
        latency = LATENCIES[self.hub.choices.pick("latency", self.client.name, len(LATENCIES))]
        due = max(self.hub.now + latency + extra, self._latest[way])
        self._latest[way] = due
        return due

    def arrive(self, packet: Packet) -> None:
        """A reply has reached the client."""
        if not self.open or self.client.crashed:
            return
        self.network.delivered(packet)
        self._received += packet.data
        if self._reader is not None:
            self.hub.wake_now(self._reader)

    def hang_up(self) -> None:
        """The server closes its end; the client learns it behind the replies that are under way, if it ever does."""
        if not self._silent["reply"] and not self.network.is_cut(self.client.name, self.server.name):
            self.hub.at(self._due("reply", 0), Connection.end, self)

    def end(self) -> None:
        """The client reads what it has, then an end of file."""
        self.ended = True
        if self._reader is not None:
            self.hub.wake(self._reader)


def split(data: bytes) -> tuple[list[list[bytes]], bytes]:
    """The words of each complete RESP command in `data`, and what is left over."""
    lines = data.split(RESP)
    sizes, words = lines[1::2], lines[2::2]
    if lines[0] == b"*%d" % len(words) and sizes == [*[b"$%d" % len(word) for word in words], b""]:
        return [words], b""  # the usual case: one command, with no line break in its words
    commands, start = [], 0
    while start < len(data):
        parsed, end = _command(data, start)
        if parsed is None:
            break
        commands.append(parsed)
        start = end
    return commands, data[start:]


def _command(data: bytes, at: int) -> tuple[list[bytes] | None, int]:
    """The command that starts at `at`, and where it ends; None if it is not all here yet."""
    line = data.find(RESP, at)
    if line < 0:
        return None, at
    words = []
    count, at = int(data[at + 1 : line]), line + 2
    for _ in range(count):
        line = data.find(RESP, at)
        if line < 0:
            return None, at
        first = line + 2
        last = first + int(data[at + 1 : line])
        if len(data) < last + 2:
            return None, at
        words.append(data[first:last])
        at = last + 2
    return words, at


class WorldConnection(AbstractConnection):
    """redis-py's own connection, over a simulated stream. Parser, time-outs, retries, pipelines stay redis-py's."""

    host = ""  # redis-py declares a property here that answers None

    def __init__(self, *, client: Client, server: Server, **kwargs: Any) -> None:
        self._ends = (client, server)
        super().__init__(**kwargs)
        self.host, self.port = server.name, 6379

    def _connect(self) -> Any:
        client, server = self._ends
        stream = client.world.network.connect(client, server, self._socket_connect_timeout)
        stream.settimeout(self.socket_timeout)
        return stream

    def _host_error(self) -> str:
        return self.host

    def repr_pieces(self) -> list[tuple[str, Any]]:
        return [("server", self.host), ("db", self.db)]
