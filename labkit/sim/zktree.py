"""ZooKeeper's tree: nodes with their stat, numbers for sequential ones, and watches that fire once.

It is the state that a quorum agrees on, one transaction after another, each with a zxid of its own, a refused one too.
It knows neither time nor sessions but by their number; `zookeeper.py` has those. Not here: ACLs, multi, quotas. A zxid
is a plain number; the upper half of the real one counts the leaders, so that it grows as well.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Protocol

from redis.exceptions import ResponseError

from .data import Author

SUFFIX = 10  # digits of a sequential node's number


class Refused(ResponseError):
    """An answer that names an error first, such as `NoNode /stock`."""


class Watcher(Protocol):
    """A connection that is told of changes."""

    def tell(self, *words: str) -> None: ...


@dataclass(slots=True)
class Znode:
    """owner: the session that an ephemeral node ends with, or 0.  created: how many children there have ever been.
    born, changed: by the server's wall clock, in milliseconds."""

    czxid: int
    mzxid: int
    pzxid: int
    born: int
    changed: int
    value: bytes = b""
    owner: int = 0
    author: Author = ("", None)
    numbered: bool = False
    container: bool = False
    version: int = 0
    created: int = 0
    children: dict[str, None] = field(default_factory=dict)

    def stat(self) -> list[int]:
        """In the order of kazoo's ZnodeStat. `changes` is its cversion: the creations and the deletions of children.
        Source: DataNode.copyStat."""
        times = [self.czxid, self.mzxid, self.born, self.changed]
        changes = 2 * self.created - len(self.children)
        return [*times, self.version, changes, 0, self.owner, len(self.value), len(self.children), self.pzxid]


class Tree:
    """wall: the time in seconds.  emptied: called with a container that has lost its last child."""

    def __init__(self, wall: Callable[[], float], emptied: Callable[[str], None]) -> None:
        self._wall, self._emptied = wall, emptied
        self.zxid = 0
        self.nodes = {"/": Znode(0, 0, 0, 0, 0)}
        self.stirred: dict[str, None] = {}  # nodes whose children have changed; whoever looks empties it
        self._watches: dict[tuple[str, str], dict[Watcher, None]] = {}  # ("data" or "child", path) -> who is told

    # -- transactions ------------------------------------------------------------------------------------------

    def begin(self) -> int:
        """The zxid of a new transaction."""
        self.zxid += 1
        return self.zxid

    def create(self, path: str, value: bytes, flags: Collection[bytes], owner: int, author: Author) -> str:
        """Returns the real path. flags: -s sequential, -c a container. A sequential node's number is that of its
        parent's children so far, deleted ones included (source: PrepRequestProcessor); so it starts again where the
        parent was deleted and made anew."""
        zxid, above = self.begin(), parent_of(path)
        parent = self.node(above)
        if b"-s" in flags:
            path += f"{parent.created:0{SUFFIX}d}"
        if path in self.nodes:
            raise Refused(f"NodeExists {path}")
        if parent.owner:
            raise Refused(f"NoChildrenForEphemerals {above}")
        now = round(self._wall() * 1000)
        node = Znode(zxid, zxid, zxid, now, now, value, owner, author, b"-s" in flags, b"-c" in flags)
        self.nodes[path] = node
        parent.children[path.rpartition("/")[2]] = None
        parent.created, parent.pzxid = parent.created + 1, zxid
        self.stirred[above] = None
        self._fire("CREATED", path, "data")
        self._fire("CHILD", above, "child")
        return path

    def change(self, path: str, value: bytes, version: int) -> None:
        zxid, node = self.begin(), self._of_version(path, version)
        node.value, node.version, node.mzxid = value, node.version + 1, zxid
        node.changed = round(self._wall() * 1000)
        self._fire("CHANGED", path, "data")

    def delete(self, path: str, version: int) -> None:
        zxid, node = self.begin(), self._of_version(path, version)
        if node.children:
            raise Refused(f"NotEmpty {path}")
        self.remove(path, zxid)

    def remove(self, path: str, zxid: int) -> None:
        """Deletes a node that has no children, as part of a transaction."""
        above = parent_of(path)
        parent = self.node(above)
        del self.nodes[path], parent.children[path.rpartition("/")[2]]
        parent.pzxid = zxid
        self.stirred |= {above: None, path: None}
        self._fire("DELETED", path, "data", "child")
        self._fire("CHILD", above, "child")
        if parent.container and not parent.children:
            self._emptied(above)

    # -- reading -----------------------------------------------------------------------------------------------

    def node(self, path: str) -> Znode:
        if path not in self.nodes:
            raise Refused(f"NoNode {path}")
        return self.nodes[path]

    def _of_version(self, path: str, version: int) -> Znode:
        node = self.node(path)
        if version not in (-1, node.version):
            raise Refused(f"BadVersion {path} has version {node.version}")
        return node

    def of(self, owner: int) -> list[str]:
        """The ephemeral nodes of a session."""
        return [path for path, node in self.nodes.items() if node.owner == owner]

    def head(self, parent: str) -> str | None:
        """Of the children that are ephemeral and sequential, the one with the lowest number."""
        paths = [join(parent, name) for name in self.nodes[parent].children] if parent in self.nodes else []
        queue = [path for path in paths if self.nodes[path].numbered and self.nodes[path].owner]
        return min(queue, key=lambda path: path[-SUFFIX:], default=None)

    # -- watches -----------------------------------------------------------------------------------------------

    def watch(self, kind: str, path: str, who: Watcher) -> None:
        """kind: "data" for the node itself, also one that is yet to come; "child" for its children."""
        self._watches.setdefault((kind, path), {})[who] = None

    def unwatch(self, who: Watcher) -> None:
        """A connection has ended, and its watches with it."""
        for watchers in self._watches.values():
            watchers.pop(who, None)

    def _fire(self, event: str, path: str, *kinds: str) -> None:
        """Tells each connection that watches, once; for the next change it has to watch anew."""
        told: dict[Watcher, None] = {}
        for kind in kinds:
            told |= self._watches.pop((kind, path), {})
        for who in told:
            who.tell("event", event, path)


def parent_of(path: str) -> str:
    return path.rpartition("/")[0] or "/"


def join(parent: str, name: str) -> str:
    return f"{parent.rstrip('/')}/{name}"
