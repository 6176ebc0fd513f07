"""ZooKeeperLock: a queue of ephemeral, sequential nodes. The lowest number holds, each waits for the one before it.

A release wakes one waiter, in the order of their coming, and nobody polls. A quorum agrees on each grant, so that no
failover forgets it, and no wall clock counts. But it is a lease all the same: a session ends while its client stands
still, and the next one holds the lock (E93). What it protects is safe only in a store that compares `Lease.fence`, the
czxid of the own node: it grows with each grant. The number in the node's name does not, for it starts again when the
parent is made anew.

While the client is SUSPENDED nobody knows who holds the lock: stop working, and ask `holding` before each step. A read
may lag behind, on another member: after a create whose reply was lost, `sync` comes before the look for the own node.
The file is long because it is one thing: what a lost connection means to joining, waiting, leaving and holding.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from threading import Event, Thread
from typing import Any

from kazoo.exceptions import ConnectionLoss, KazooException, NoNodeError, SessionExpiredError

from . import waiting
from .lease import Lease, LeaseLost, check_name, check_timeout, token_of


@dataclass(slots=True)
class _Turn:
    """One acquisition. node: the own node's path, "" before it is known.  sessions: how many had ended when it joined.
    unsure: there may be a node, or one more, for a create was sent whose reply has not come."""

    token: str
    node: str = ""
    czxid: int = 0
    sessions: int = 0
    unsure: bool = False


class ZooKeeperLock:
    """A lock at the path `name`, such as "/stock", over `zk`, a started kazoo client. `on_lost(reason)`: called on
    kazoo's own thread each time a held lock becomes doubtful (SUSPENDED) or is lost (LOST); it must not wait. kazoo's
    calls have no time-out of their own: this asks only while connected. So a wait may outlast its time-out by the calls
    of one look and by those that leave the queue: one DELETE, or after a lost create those that find the node."""

    def __init__(self, zk: Any, name: str, on_lost: Callable[[str], Any] | None = None) -> None:
        self.zk, self.name, self.on_lost = zk, _check_path(name), on_lost
        self._held: dict[str, bool] = {}  # nodes that the present session holds, and whether a release was tried
        self._sessions = 0  # that have ended
        self._up = Event()
        zk.add_listener(self._heard)
        if zk.connected:
            self._up.set()

    def try_acquire(self) -> Lease | None:
        """One look: joins the queue, and leaves it if somebody is before us. Raises ConnectionLoss if not connected."""
        return self.acquire(0)

    def acquire(self, timeout: float | None = None) -> Lease | None:
        """Waits its turn for at most `timeout` seconds (0: one look, None: for ever). Raises LeaseLost if the session
        ends meanwhile, and the place in the queue with it."""
        timeout = check_timeout(timeout)
        end = None if timeout is None else time.monotonic() + timeout
        turn, lease = _Turn(os.urandom(8).hex()), None
        try:
            lease = self._queue(turn, end)
        finally:
            if lease is None:
                self._give_up(turn)
        return lease

    def extend(self, lease: Lease) -> Lease:
        """Asks whether the lock is ours; there is nothing to prolong, the session's pings do. Raises LeaseLost if not,
        or if its release was tried; ConnectionLoss if nobody can know now."""
        node = self._node_of(lease)
        if self._held.get(node):
            raise LeaseLost("lost", self.name)
        self._check_connection()
        with suppress(SessionExpiredError):
            if self.zk.exists(node) is not None:
                return lease
        raise self._lost(node)

    def holding(self, lease: Lease) -> bool:
        """Whether we may work under this lease, by what the client knows: not while SUSPENDED, not after LOST,
        not once a release was tried. A paused client does not know yet; only the store can stop its late write."""
        return self._up.is_set() and self._held.get(self._node_of(lease)) is False

    def release(self, lease: Lease) -> None:
        """Deletes the own node. Raises LeaseLost if it was gone: then exclusion did not last. After a ConnectionLoss
        the node is deleted as soon as there is a connection."""
        node = self._node_of(lease)
        again = self._held.get(node, False)
        if node in self._held:
            self._held[node] = True
        try:
            self._check_connection()
            self.zk.delete(node)
        except (NoNodeError, SessionExpiredError):
            if not (self._held.pop(node, False) and again):  # else an earlier delete's reply was lost: it is no loss
                raise self._lost(node) from None
        except ConnectionLoss:
            self._leave(lambda: self.zk.delete(node))
            raise
        self._held.pop(node, None)

    hold = waiting.hold

    # -- the queue ---------------------------------------------------------------------------------------------

    def _queue(self, turn: _Turn, end: float | None) -> Lease | None:
        """Until we are first in the queue or the time is over. A lost connection is waited for, then we look again."""
        while self._up.wait(_left(end)):
            with suppress(ConnectionLoss):
                try:
                    if not turn.node:
                        self._join(turn)
                    before = self._before(turn.node)
                    if before is None:
                        return self._granted(turn)
                    if not self._gone(before, end):
                        return None
                except SessionExpiredError:
                    raise LeaseLost("lost", self.name) from None
        if not turn.node and not turn.unsure:
            self._check_connection()
        return None

    def _granted(self, turn: _Turn) -> Lease:
        self._held[turn.node] = False
        if self._sessions != turn.sessions:  # it has ended while the news was on its way
            raise self._lost(turn.node)
        return Lease(self.name, turn.node, turn.czxid, inf)  # no clock of ours can tell when a session ends

    def _join(self, turn: _Turn) -> None:
        """Finds or makes the own node. A session that has ended before cost us nothing."""
        turn.sessions = self._sessions
        for node in self._own(turn.token) if turn.unsure else ():
            if stat := self.zk.exists(node):
                turn.node, turn.czxid = node, stat.czxid
                return
        lost, turn.unsure = turn.unsure, True
        turn.node, turn.czxid = self._enter(turn.token)
        turn.unsure = lost

    def _enter(self, token: str) -> tuple[str, int]:
        """The own node's path and czxid. The token in its name finds it again if this reply is lost."""
        path = f"{self.name}/{token}-lock-"
        try:
            node, stat = self.zk.create(path, b"", ephemeral=True, sequence=True, include_data=True)
        except NoNodeError:
            self.zk.ensure_path(self.name)
            node, stat = self.zk.create(path, b"", ephemeral=True, sequence=True, include_data=True)
        return node, stat.czxid

    def _own(self, token: str) -> list[str]:
        """The nodes that bear the token, the first one first. `sync`, for the member that we have come to may not have
        seen yet what another one took from us."""
        self.zk.sync(self.name)
        return [f"{self.name}/{name}" for name in self._children() if name.startswith(token)]

    def _before(self, node: str) -> str | None:
        """Whom we wait for: the node next to ours in the queue; None if ours is the first. Another one of our own is
        deleted: we would wait for ourselves, and those behind it for a node that nobody gives back."""
        queue, mine = self._children(), node.rpartition("/")[2]
        if mine not in queue:
            raise LeaseLost("lost", self.name)
        token = mine.partition("-lock-")[0]
        self._delete(*(f"{self.name}/{name}" for name in queue if name.startswith(token) and name != mine))
        ahead = queue[: queue.index(mine)]
        return f"{self.name}/{self._whom(ahead)}" if ahead else None

    @staticmethod
    def _whom(ahead: list[str]) -> str:
        return ahead[-1]

    def _gone(self, before: str, end: float | None) -> bool:
        """Waits until that node changes or the connection does; then it is time to look again. `get`, for a watch by
        `exists` would stay behind where the node is gone already."""
        changed = Event()
        try:
            self.zk.get(before, watch=lambda event: changed.set())
        except NoNodeError:
            return True
        return changed.wait(_left(end))

    def _children(self) -> list[str]:
        """The queue, in the order of the numbers."""
        with suppress(NoNodeError):
            return sorted((name for name in self.zk.get_children(self.name) if "-lock-" in name), key=lambda n: n[-10:])
        return []

    # -- leaving -----------------------------------------------------------------------------------------------

    def _give_up(self, turn: _Turn) -> None:
        if turn.unsure:
            self._leave(lambda: self._delete(*self._own(turn.token)))
        elif turn.node:
            self._leave(lambda: self._delete(turn.node))

    def _delete(self, *nodes: str) -> None:
        for node in nodes:
            with suppress(NoNodeError):
                self.zk.delete(node)

    def _leave(self, delete: Callable[[], Any]) -> None:
        """Deletes what is ours; in the background if that takes a new connection, for a node left behind would hold up
        the queue as long as this client lives."""
        if not self._up.is_set() or not _done(delete):
            Thread(target=self._keep_leaving, args=(delete,), name="leave", daemon=True).start()

    def _keep_leaving(self, delete: Callable[[], Any]) -> None:
        while self._up.wait() and not _done(delete):
            pass  # each round ends with a connection that was lost

    # -- what the client hears ---------------------------------------------------------------------------------

    def _heard(self, state: str) -> None:
        if state == "CONNECTED":
            self._up.set()
            return
        self._up.clear()
        held = not all(self._held.values())  # what we gave back, or tried to, is no loss
        if state == "LOST":
            self._sessions += 1
            self._held.clear()
        if held and self.on_lost is not None:
            self.on_lost(state)

    def _node_of(self, lease: Lease) -> str:
        return token_of(lease, self.name)

    def _check_connection(self) -> None:
        if not self._up.is_set():
            raise ConnectionLoss(f"{self.name!r}: nothing was asked, for the client is not connected.")

    def _lost(self, node: str) -> LeaseLost:
        self._held.pop(node, None)
        return LeaseLost("lost", self.name)


def _done(delete: Callable[[], Any]) -> bool:
    """False: the connection was lost before we knew."""
    try:
        delete()
    except ConnectionLoss:
        return False
    except KazooException:
        pass  # it is gone, or its session is
    return True


def _check_path(name: str) -> str:
    """A node's path. Raises ValueError for whatever a client would read as another one."""
    parts = check_name(name).split("/")
    if parts[0] or not set(parts[1:]).isdisjoint({"", ".", ".."}):
        raise ValueError(f"name={name!r} is not the path of a lock: give one like '/stock', from the root.")
    return name


def _left(end: float | None) -> float | None:
    return None if end is None else max(0.0, end - time.monotonic())
