"""ZooKeeper as a node of the world: sessions, and what a client can ask of the tree, as far as a lock needs it.

It stands for a whole ensemble: what it has acknowledged is on a quorum, so that the crash of a member, or a change of
the leader, loses none of it; only a wipe of all disks does. A session ends when its time-out has passed since the last
word from its client, by the monotonic clock: a step of the wall clock changes nothing. A new leader gives each session
its whole time-out again. Not here: reads that lag behind on another member, sessions that end a tick late, passwords;
a request on a connection whose session has moved or ended is refused, as is whatever the model does not know.
It is long for the list of requests at its end, one short method each.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from zlib import crc32

from .data import Author, Copied, News
from .hub import MICRO
from .redisserver import encode
from .zktree import Refused, Tree

if TYPE_CHECKING:
    from .server import Server

LEAST, MOST = 1.0, 60.0  # seconds that a session may be granted; as shipped a server allows 2 to 20 ticks of 2 s
REAPING = 60 * MICRO  # between two rounds in which empty containers are deleted, as shipped


@dataclass(slots=True)
class Life:
    """A client's session. due: the virtual microsecond at which it ends if its client is not heard of before."""

    ident: int
    timeout: int
    due: int = 0
    connection: Session | None = None
    timer: list[Any] | None = None


class ZooKeeper:
    """The data of one ensemble, made by `world.service("zk", ZooKeeper)`."""

    lasting = True

    def __init__(self, server: Server) -> None:
        self.server, self.hub = server, server.world.hub
        self.tree = Tree(server.wall, self._emptied)
        self.lives: dict[int, Life] = {}
        self._idents = 0
        self._told: dict[str, str] = {}  # what `news` said last: parent -> the head of its queue

    # -- the contract of data.py -------------------------------------------------------------------------------

    def session(self) -> Session:
        return Session(self)

    def news(self) -> Iterator[News]:
        """For each node whose queue has another head: the head's path, by whoever created it. The queue: children that
        are ephemeral and sequential, in the order of their numbers."""
        stirred, self.tree.stirred = self.tree.stirred, {}
        for parent in stirred:
            head, before = self.tree.head(parent), self._told.pop(parent, None)
            if head:
                self._told[parent] = head
            if head != before:
                yield parent, head, None, self.tree.nodes[head].author if head else None

    def until(self, name: str) -> float | None:
        """When the session of whoever is first in a queue will end, unless it is heard of again."""
        head = self.tree.head(name)
        return self.lives[self.tree.nodes[head].owner].due / MICRO if head else None

    def restarted(self, keep_data: bool) -> ZooKeeper:
        """A new leader with the log, or an ensemble whose disks were all wiped. The connections are gone, and the
        watches with them."""
        for life in self.lives.values():
            self._disarm(life)
        if not keep_data:
            return ZooKeeper(self.server)
        for life in self.lives.values():
            life.connection = None
            self._arm(life)
        return self

    def delete(self, name: str) -> None:
        raise ValueError(f"{self.server.name} is a ZooKeeper ensemble: it neither evicts {name} nor can it be flushed.")

    def copies(self, names: Collection[str]) -> dict[str, Copied]:
        raise ValueError(f"{self.server.name} is a whole ZooKeeper ensemble already: give it no replica.")

    def put(self, number: int, key: bytes, item: Any) -> None:
        raise ValueError(f"{self.server.name} is a ZooKeeper ensemble: it follows no server of another kind.")

    # -- sessions ----------------------------------------------------------------------------------------------

    def attach(self, connection: Session, ident: int, timeout: float) -> Life:
        """A new session (ident 0), or one that goes on over this connection and no longer over its old one. Refused if
        it has ended."""
        if ident and ident not in self.lives:
            raise Refused(f"SessionExpired session {ident} has ended")
        life = self.lives[ident] if ident else self._new_life(timeout)
        if life.connection is not None and life.connection is not connection:
            life.connection.life = None
        life.connection = connection
        self._arm(life)
        return life

    def _new_life(self, timeout: float) -> Life:
        self.tree.begin()
        self._idents += 1
        life = self.lives[self._idents] = Life(self._idents, round(min(max(timeout, LEAST), MOST) * MICRO))
        return life

    def _arm(self, life: Life) -> None:
        """A whole time-out from now on."""
        life.due = self.hub.now + life.timeout
        if life.timer is None:
            life.timer = self.hub.at(life.due, self._look, life)

    def _disarm(self, life: Life) -> None:
        if life.timer is not None:
            self.hub.cancel(life.timer)
            life.timer = None

    def _look(self, life: Life) -> None:
        """When a session was due to end: ends it, or looks again later. Without a leader no session ends; a leader that
        stood still hears first what has come meanwhile."""
        life.timer = None
        if not self.server.up:
            return
        due = self.server.paused_until + 1 if self.server.paused else life.due
        if due > self.hub.now:
            life.timer = self.hub.at(due, self._look, life)
            return
        self.expire(life)

    def expire(self, life: Life) -> None:
        """Ends a session as one whose time is over: its connection is closed."""
        mine = [parent for parent, head in self._told.items() if self.tree.nodes[head].owner == life.ident]
        if life.connection is not None:
            life.connection.tell("closed", "expired")
        self.end(life)
        self.server.stir("expire", mine[0] if mine else f"session {life.ident}")

    def end(self, life: Life) -> None:
        """Ends a session: its ephemeral nodes are deleted in one transaction, and whoever watches them is told."""
        self._disarm(life)
        del self.lives[life.ident]
        if life.connection is not None:
            self.tree.unwatch(life.connection)
            life.connection.life = None
        zxid = self.tree.begin()
        for path in self.tree.of(life.ident):
            self.tree.remove(path, zxid)

    # -- containers --------------------------------------------------------------------------------------------

    def _emptied(self, path: str) -> None:
        self.hub.at(self.hub.now + REAPING - self.hub.now % REAPING, self._reap, path)

    def _reap(self, path: str) -> None:
        """In its next round the leader deletes a container that has had children and has none."""
        node = self.tree.nodes.get(path)
        if node is not None and node.container and not node.children and self.server.up:
            self.tree.remove(path, self.tree.begin())
            self.server.stir("evict", path)


class Session:
    """One connection as the ensemble sees it. life: the session that it carries, once it has said which."""

    def __init__(self, zk: ZooKeeper) -> None:
        self.zk, self.tree = zk, zk.tree
        self.author: Author = ("", None)
        self.life: Life | None = None
        self._outbox: list[bytes] = []

    def execute(self, words: list[bytes], refusal: str = "") -> None:
        """One request. Events that it sets off come before its reply, as from the real one."""
        try:
            reply = self._obey(words[0].decode("ascii", "replace"), words[1:])
        except Refused as refused:
            reply = refused
        self._outbox.append(encode(reply))

    def _obey(self, name: str, words: list[bytes]) -> Any:
        if name == "CONNECT":
            timeout, ident = words
            self.life = self.zk.attach(self, int(ident), int(timeout) / 1000)
            return [[self.life.ident, self.life.timeout * 1000 // MICRO]]
        if name not in REQUESTS:
            raise Refused(f"Unimplemented The model of ZooKeeper knows no {name}; it has {', '.join(REQUESTS)}.")
        if self.life is None:
            raise Refused("SessionMoved this connection carries no session, or no longer")
        self.life.due = self.zk.hub.now + self.life.timeout
        return REQUESTS[name](self, self.life, *words)

    def tell(self, *words: str) -> None:
        """An event on its way to the client."""
        self._outbox.append(encode(list(words)))

    def answer(self, reply: Any) -> None:
        self._outbox.append(encode(reply))

    def replies(self) -> list[bytes]:
        waiting, self._outbox = self._outbox, []
        return waiting

    def close(self) -> None:
        """The connection has ended: its watches end with it, its session does not."""
        self.tree.unwatch(self)
        if self.life is not None:
            self.life.connection = None
            self.life = None

    # -- requests ----------------------------------------------------------------------------------------------

    def ping(self, life: Life) -> bytes:
        return b"OK"

    def bye(self, life: Life) -> bytes:
        self.zk.end(life)
        return b"OK"

    def create(self, life: Life, *words: bytes) -> list[Any]:
        *flags, path, value = words
        owner = life.ident if b"-e" in flags else 0
        made = self.tree.create(path.decode(), value, flags, owner, self.author)
        return [self.tree.node(made).stat(), made]

    def delete(self, life: Life, path: bytes, version: bytes) -> bytes:
        self.tree.delete(path.decode(), int(version))
        return b"OK"

    def set(self, life: Life, path: bytes, version: bytes, value: bytes) -> list[Any]:
        self.tree.change(path.decode(), value, int(version))
        return [self.tree.node(path.decode()).stat()]

    def stat(self, life: Life, *words: bytes) -> list[Any]:
        """Watches also a node that is not there yet."""
        path = self._watched("data", words)
        return [self.tree.node(path).stat()]

    def get(self, life: Life, *words: bytes) -> list[Any]:
        node = self.tree.node(words[-1].decode())
        self._watched("data", words)
        return [node.stat(), node.value]

    def children(self, life: Life, *words: bytes) -> list[Any]:
        node = self.tree.node(words[-1].decode())
        self._watched("child", words)
        return [node.stat(), sorted(node.children, key=lambda name: crc32(name.encode()))]  # in no useful order

    def sync(self, life: Life, path: bytes) -> bytes:
        """There is but one copy here, so that there is nothing to catch up with; the node need not exist."""
        return path

    def _watched(self, kind: str, words: tuple[bytes, ...]) -> str:
        path = words[-1].decode()
        if b"-w" in words[:-1]:
            self.tree.watch(kind, path, self)
        return path


REQUESTS: dict[str, Callable[..., Any]] = {
    "PING": Session.ping,
    "CLOSE": Session.bye,
    "CREATE": Session.create,
    "DELETE": Session.delete,
    "SET": Session.set,
    "STAT": Session.stat,
    "GET": Session.get,
    "CHILDREN": Session.children,
    "SYNC": Session.sync,
}
