"""ZooKeeperLock: a queue of ephemeral, sequential nodes. The lowest number holds, each waits for the one before it.

A release wakes one waiter, in the order of their coming, and nobody polls. A quorum agrees on each grant, so that no
failover forgets it, and no wall clock counts. But it is a lease all the same: a session ends while its client stands
still, and the next one holds the lock (E93). What it protects is safe only in a store that compares `Lease.fence`, the
czxid of the own node: it grows with each grant. The number in the node's name does not, for it starts again when the
parent is made anew.

While the client is SUSPENDED nobody knows who holds the lock: stop working, and ask `holding` before each step.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from math import inf
from threading import Event, Thread
from typing import Any

from kazoo.exceptions import ConnectionLoss, KazooException, NoNodeError, SessionExpiredError

from . import waiting
from .lease import Lease, LeaseLost, check_name, check_timeout, token_of


class ZooKeeperLock:
    """A lock at the path `name`, over `zk`, a started kazoo client. `on_lost(reason)`: called on kazoo's own thread
    each time a held lock becomes doubtful (SUSPENDED) or is lost (LOST); it must not wait. kazoo's calls have no
    time-out of their own: this asks only while connected, so a wait outlasts its time-out by one call at most."""

    def __init__(self, zk: Any, name: str, on_lost: Callable[[str], Any] | None = None) -> None:
        self.zk, self.name, self.on_lost = zk, check_name(name), on_lost
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
        token = os.urandom(8).hex()
        try:
            lease = self._queue(token, end)
        except BaseException:
            self._leave(token)
            raise
        if lease is None:
            self._leave(token)
        return lease

    def extend(self, lease: Lease) -> Lease:
        """Asks whether the lock is ours; there is nothing to prolong, the session's pings do. Raises LeaseLost if not,
        ConnectionLoss if nobody can know now."""
        node = self._node_of(lease)
        self._check_connection()
        with suppress(SessionExpiredError):
            if self.zk.exists(node) is not None:
                return lease
        raise self._lost(node)

    def holding(self, lease: Lease) -> bool:
        """Whether we may work under this lease, by what the client knows: not while SUSPENDED, not after LOST. A paused
        client does not know yet; only the store can stop its late write."""
        return self._up.is_set() and self._node_of(lease) in self._held

    def release(self, lease: Lease) -> None:
        """Deletes the own node. Raises LeaseLost if it was gone: then exclusion did not last. After a ConnectionLoss
        the node is deleted as soon as there is a connection."""
        node = self._node_of(lease)
        try:
            self._check_connection()
            self.zk.delete(node)
        except (NoNodeError, SessionExpiredError):
            if not self._held.pop(node, False):
                raise self._lost(node) from None
        except ConnectionLoss:
            if node in self._held:
                self._held[node] = True  # by a delete whose reply was lost, so its absence is no loss
            self._leave(node)
            raise
        self._held.pop(node, None)

    hold = waiting.hold

    # -- the queue ---------------------------------------------------------------------------------------------

    def _queue(self, token: str, end: float | None) -> Lease | None:
        """Until we are first in the queue or the time is over. A lost connection is waited for, then we look again."""
        place: tuple[str, int] | None = None
        asked, sessions = False, self._sessions
        while self._up.wait(_left(end)):
            try:
                place = place or (self._find(token) if asked else None) or self._enter(token)
                before = self._before(place[0])
                if before is None:
                    return self._granted(*place, sessions)
                if not self._gone(before, end):
                    return None
            except ConnectionLoss:
                asked = True  # our node may exist by now
            except SessionExpiredError:
                raise LeaseLost("lost", self.name) from None
        if place is None and not asked:
            self._check_connection()
        return None

    def _granted(self, node: str, czxid: int, sessions: int) -> Lease:
        self._held[node] = False
        if self._sessions != sessions:  # it has ended while the news was on its way
            raise self._lost(node)
        return Lease(self.name, node, czxid, inf)  # no clock of ours can tell when a session ends

    def _enter(self, token: str) -> tuple[str, int]:
        """The own node's path and czxid. The token in its name finds it again if this reply is lost."""
        path = f"{self.name}/{token}-lock-"
        try:
            node, stat = self.zk.create(path, b"", ephemeral=True, sequence=True, include_data=True)
        except NoNodeError:
            self.zk.ensure_path(self.name)
            node, stat = self.zk.create(path, b"", ephemeral=True, sequence=True, include_data=True)
        return node, stat.czxid

    def _find(self, token: str) -> tuple[str, int] | None:
        for name in self._children():
            if name.startswith(token) and (stat := self.zk.exists(f"{self.name}/{name}")):
                return f"{self.name}/{name}", stat.czxid
        return None

    def _before(self, node: str) -> str | None:
        """Whom we wait for: the node next to ours in the queue; None if ours is the first."""
        queue = sorted(self._children(), key=lambda name: name[-10:])
        mine = node.rpartition("/")[2]
        if mine not in queue:
            raise LeaseLost("lost", self.name)
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
        with suppress(NoNodeError):
            return [name for name in self.zk.get_children(self.name) if "-lock-" in name]
        return []

    # -- leaving -----------------------------------------------------------------------------------------------

    def _leave(self, what: str) -> None:
        """Deletes our node, by path or token; in the background if that takes a new connection, for a node left behind
        would hold up the queue as long as this client lives."""
        if not self._up.is_set() or not self._deleted(what):
            Thread(target=self._keep_leaving, args=(what,), name="leave", daemon=True).start()

    def _keep_leaving(self, what: str) -> None:
        while self._up.wait() and not self._deleted(what):
            pass  # each round ends with a connection that was lost

    def _deleted(self, what: str) -> bool:
        """False: the connection was lost before we knew."""
        try:
            node = what if what.startswith(self.name) else (self._find(what) or ("", 0))[0]
            if node:
                self.zk.delete(node)
        except ConnectionLoss:
            return False
        except KazooException:
            pass  # it is gone, or its session is
        return True

    # -- what the client hears ---------------------------------------------------------------------------------

    def _heard(self, state: str) -> None:
        if state == "CONNECTED":
            self._up.set()
            return
        self._up.clear()
        held = bool(self._held)
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


def _left(end: float | None) -> float | None:
    return None if end is None else max(0.0, end - time.monotonic())
