"""A client of the world's ZooKeeper with kazoo's method names, as far as a lock recipe needs them.

Each call is one request and waits for its reply; while there is no connection it waits for the next one. Errors are
kazoo's. What kazoo has and this lacks, it says. How the session is kept stands in `zksession.py`.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from kazoo.exceptions import NodeExistsError
from kazoo.protocol.states import ZnodeStat

from .zksession import SessionKeeper, Watch
from .zktree import parent_of


class ZooKeeperClient(SessionKeeper):
    """As SessionKeeper, with the calls. A path begins at the root; a value is bytes."""

    def create(
        self,
        path: str,
        value: bytes = b"",
        ephemeral: bool = False,
        sequence: bool = False,
        include_data: bool = False,
        *,
        acl: None = None,
        makepath: bool = False,
        container: bool = False,
    ) -> Any:
        """The real path, or (path, stat) with include_data. container: as Curator makes them; kazoo cannot."""
        if acl is not None or not isinstance(ephemeral, bool):
            raise NotImplementedError("The model of ZooKeeper has no ACLs: leave `acl` out, and give the rest by name.")
        if makepath and parent_of(path) != "/":
            self.ensure_path(parent_of(path))
        flags = [flag for flag, on in (("-e", ephemeral), ("-s", sequence), ("-c", container)) if on]
        stat, made = self._ask("CREATE", *flags, _path(path), _bytes(value))
        return (made.decode(), ZnodeStat(*stat)) if include_data else made.decode()

    def get(self, path: str, watch: Watch | None = None) -> tuple[bytes, ZnodeStat]:
        stat, value = self._ask("GET", *_flag(watch), _path(path), watcher=("data", path, watch))
        return value, ZnodeStat(*stat)

    def exists(self, path: str, watch: Watch | None = None) -> ZnodeStat | None:
        """None if it does not; the watch is set in both cases."""
        reply = self._ask("STAT", *_flag(watch), _path(path), watcher=("data", path, watch), missing=True)
        return None if reply is None else ZnodeStat(*reply[0])

    def get_children(self, path: str, watch: Watch | None = None, include_data: bool = False) -> Any:
        """Names, in no order; or (names, stat) with include_data."""
        stat, names = self._ask("CHILDREN", *_flag(watch), _path(path), watcher=("child", path, watch))
        found = [name.decode() for name in names]
        return (found, ZnodeStat(*stat)) if include_data else found

    def set(self, path: str, value: bytes, version: int = -1) -> ZnodeStat:
        return ZnodeStat(*self._ask("SET", _path(path), str(version), _bytes(value))[0])

    def delete(self, path: str, version: int = -1) -> bool:
        self._ask("DELETE", _path(path), str(version))
        return True

    def sync(self, path: str) -> str:
        """What comes after it on this connection sees all that was acknowledged before it, by whatever member."""
        self._ask("SYNC", _path(path))
        return path

    def ensure_path(self, path: str) -> bool:
        """Creates the node and those above it, as far as they are missing."""
        if self.exists(path) is None:
            if parent_of(_path(path)) != "/":
                self.ensure_path(parent_of(path))
            with suppress(NodeExistsError):  # somebody else was faster
                self.create(path)
        return True

    def close(self) -> None:
        """Nothing is left to let go of after `stop`."""

    def __getattr__(self, name: str) -> Any:
        has = ", ".join(name for name in dir(type(self)) if not name.startswith("_"))
        raise AttributeError(f"The model of kazoo's client has no {name!r}; it has {has}.")


def _flag(watch: Watch | None) -> list[str]:
    return [] if watch is None else ["-w"]


def _path(path: str) -> str:
    if not isinstance(path, str) or not path.startswith("/") or (path.endswith("/") and path != "/") or "//" in path:
        raise ValueError(f"path={path!r} is no path: give one like '/stock/a', from the root, without an empty name.")
    return path


def _bytes(value: bytes) -> bytes:
    if not isinstance(value, bytes):
        raise TypeError(f"value={value!r} is no bytes: a node holds bytes.")
    return value
