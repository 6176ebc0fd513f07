"""Asynchronous replication: what a primary is to its replicas, and a replica to its primary.

A primary answers its client first and passes on what changed afterwards: each changed key with its value and its
absolute expiry, in order, after a lag. A replica stores what arrives and judges the expiry by its own wall clock. What
is under way when the primary ends, or over a link that is cut, never arrives; once both see each other again the
replica takes a full copy. Each link has one lag, which the oracle may shorten or stretch for each change. A command
that leaves the data as they were is not passed on, and WAIT does not count it. Scripts, channels and the partial copies
of a real backlog are not replicated.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from redis.exceptions import ResponseError

from .data import Copied
from .hub import MICRO, micros
from .task import Task, current
from .wire import LATENCIES

if TYPE_CHECKING:
    from .server import Seen, Server

LAGS = (1.0, 0.1, 5.0)  # times the lag of the link; the first is the default
READONLY = "READONLY You can't write against a read only replica."
NOREPLICAS = "NOREPLICAS Not enough good replicas to write."
FULL_COPY = "FULLRESYNC"


@dataclass(frozen=True, slots=True)
class Change:
    """Keys as they stand on the primary after its event `cause`; None: gone.

    offset: its place in the primary's stream, from 1.  whole: these are all keys there are.  quiet: the primary's clock
    did it, and a replica whose clock agrees has done it by itself.
    """

    text: str
    offset: int
    cause: int | None
    keys: Mapping[str, tuple[Seen, Copied] | None]
    whole: bool = False
    quiet: bool = False


class Primary:
    """Passes changes on and counts acknowledgements. It takes no write unless `needed` replicas (0: any number) were
    heard of within `max_lag` seconds: Redis' `min-replicas-to-write` and `min-replicas-max-lag`. A replica at rest is
    heard of all the time; a real one reports once a second."""

    def __init__(self, server: Server, needed: int = 0, max_lag: float = 10.0, lag: float = 0.1) -> None:
        self.server, self.needed, self.max_lag = server, needed, max_lag
        self.lag = lag  # of the link to a server that comes to follow it later
        self.offset = 0
        self.replicas: list[Replica] = []
        self._waiting: list[Task] = []

    def refusal(self) -> str:
        """The error that a write gets at this moment, if any."""
        if not self.needed:
            return ""
        good = sum(replica.silent() <= self.max_lag * MICRO for replica in self.replicas)
        return NOREPLICAS if good < self.needed else ""

    def pass_on(self, kind: str, text: str, keys: Mapping[str, Any], cause: int) -> None:
        """What an event of this server changed. Of what no command did, only removals are passed on."""
        if kind != "apply":
            keys = {key: None for key, state in keys.items() if state is None}
            text = f"DEL {' '.join(keys)}"
        if not keys:
            return
        self.offset += 1
        if self.replicas:
            stored = dict.fromkeys(keys) | self.server.copies(keys)
            change = Change(text, self.offset, cause, stored, quiet=kind in ("expire", "clock"))
            for replica in self.replicas:
                replica.carry(change)

    def stopped(self) -> None:
        """The process has ended: what is under way is lost, as `Replica` finds out when it should arrive."""

    def came_back(self, cause: int) -> None:
        """After a restart, with data or empty, the replicas copy what it has."""
        for replica in self.replicas:
            replica.came_back(cause)

    # -- WAIT --------------------------------------------------------------------------------------------------

    def wait(self, offset: int, count: int, timeout: float) -> int:
        """How many replicas have acknowledged everything up to `offset`, once they are `count` or `timeout` seconds
        (0: never) have passed. For a task of this server."""
        task = current()
        end = task.hub.now + micros(timeout)
        self._waiting.append(task)
        try:
            while (acknowledged := self._acknowledged(offset)) < count and not (timeout and task.hub.now >= end):
                task.hub.park(end - task.hub.now if timeout else None)
        finally:
            self._waiting.remove(task)
        return acknowledged

    def _acknowledged(self, offset: int) -> int:
        return sum(replica.acknowledged >= offset for replica in self.replicas)

    def heard(self) -> None:
        """An acknowledgement has come."""
        for task in self._waiting:
            task.hub.wake(task)


class Replica:
    """Follows a primary: a read-only server that stores what reaches it."""

    offset = 0  # nothing is written here that anybody could wait for

    def __init__(self, server: Server, primary: Primary, lag: float) -> None:
        self.server, self.primary, self.lag = server, primary, lag
        self.network, self.hub = server.world.network, server.world.hub
        self.acknowledged = 0
        self.left = False  # it has been promoted, or follows another by now
        self.silent_since: int | None = None
        self._behind = True  # something was lost: only a full copy helps
        self._latest = 0
        self._inbox: deque[tuple[Change, int | None]] = deque()
        self._task = self.hub.spawn(server, server.name, self._follow)
        primary.replicas.append(self)

    def refusal(self) -> str:
        return READONLY

    def pass_on(self, kind: str, text: str, keys: Mapping[str, Any], cause: int) -> None:
        """Nobody follows a replica."""

    def silent(self) -> int:
        """For how many microseconds the primary has heard nothing of it."""
        paused = self.server.paused_since if self.server.paused else None
        return self.hub.now - min((t for t in (self.silent_since, paused) if t is not None), default=self.hub.now)

    # -- the stream --------------------------------------------------------------------------------------------

    def carry(self, change: Change) -> None:
        """Sends a change, to arrive after the lag and not before the ones sent earlier."""
        if self.left or self._behind:
            return
        sent, source = change.cause, self.primary.server
        if not change.quiet:
            sent = self.server.world.emit(source.name, "send", change.text, {"to": self.server.name}, change.cause)
        lag = self.lag * LAGS[self.hub.choices.pick("lag", self.server.name, len(LAGS))]
        self._latest = max(self.hub.now + micros(lag), self._latest)
        self.hub.at(self._latest, self._arrive, (change, sent, source.life))

    def _arrive(self, of: tuple[Change, int | None, int]) -> None:
        change, sent, life = of
        if self._sees_primary() and life == self.primary.server.life:
            self._inbox.append((change, sent))
            self.hub.wake_now(self._task)
            return
        self._behind = True
        if not change.quiet:
            data = {"direction": "request", "to": self.server.name}
            self.server.world.emit(self.primary.server.name, "drop", change.text, data, sent)

    def _sees_primary(self) -> bool:
        one, other = self.primary.server, self.server
        return not self.left and one.up and other.up and not self.network.is_cut(one.name, other.name)

    def _follow(self) -> None:
        """The life of a replica, as a task of its own node: while that stands still, changes wait."""
        while not self.left:
            if self._inbox:
                self._store(*self._inbox.popleft())
            else:
                self.hub.park()

    def _store(self, change: Change, sent: int | None) -> None:
        gone = dict.fromkeys(self.server.keys()) if change.whole else {}
        changed = self.server.adopt(gone | dict(change.keys))
        if changed or not change.quiet:
            data = {"from": self.primary.server.name, "keys": changed}
            self.server.world.emit(self.server.name, "deliver", change.text, data, sent)
        latency = LATENCIES[self.hub.choices.pick("latency", self.server.name, len(LATENCIES))]
        self.hub.at(self.hub.now + latency, self._acknowledge, (change.offset, self.primary.server.life))

    def _acknowledge(self, of: tuple[int, int]) -> None:
        offset, life = of
        if self._sees_primary() and life == self.primary.server.life:
            self.acknowledged = max(offset, self.acknowledged)
            self.primary.heard()
        else:
            self._behind = True

    # -- what befalls it ---------------------------------------------------------------------------------------

    def fell_silent(self) -> None:
        """The link is cut, or one of its ends has gone."""
        if self.silent_since is None:
            self.silent_since = self.hub.now

    def stopped(self) -> None:
        """The process has ended, and forgets what it had not stored yet."""
        self.fell_silent()
        self._behind = True
        self._inbox.clear()

    def came_back(self, cause: int | None = None) -> None:
        """One end has started anew."""
        self._behind = True
        self.mended(cause)

    def mended(self, cause: int | None = None) -> None:
        """If both ends see each other: heard of again, and, if it has missed something, sent a full copy."""
        if not self._sees_primary():
            self.fell_silent()
            return
        self.silent_since = None
        if self._behind:
            self._behind = False
            source = self.primary.server
            if source.keys() or self.server.keys():
                self.carry(Change(FULL_COPY, self.primary.offset, cause, source.copies(source.keys()), whole=True))

    def leave(self) -> None:
        """It stops following. Its old primary, if it lives, only notices by the silence."""
        self.fell_silent()
        self.left = True
        self._inbox.clear()
        self.hub.wake(self._task)


def answer_wait(server: Server, offset: int, words: list[bytes]) -> int | ResponseError:
    """The reply to WAIT count milliseconds, from a connection whose last write has this offset."""
    if isinstance(server.role, Replica):
        return ResponseError("ERR WAIT cannot be used with replica instances.")
    if len(words) != 3:
        return ResponseError("ERR wrong number of arguments for 'wait' command")
    try:
        count, milliseconds = int(words[1]), int(words[2])
    except ValueError:
        return ResponseError("ERR value is not an integer or out of range")
    if milliseconds < 0:
        return ResponseError("ERR timeout is negative")
    return server.lead().wait(offset, count, milliseconds / 1000)
