"""What a server of the world asks of its database, whichever it is: Redis' keys, ZooKeeper's tree, etcd's revisions.

Commands come as words and are executed at one moment; what is to be said to a client waits in its session until the
server collects it. `news` is where the truth comes from: it names what has changed, not what was asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Protocol

Author = tuple[str, int | None]  # the lane of whom a key belongs to, and the operation that gave it
News = tuple[str, str | None, float | None, Author | None]  # key, value, expiry; no author: whoever's command it was
Copied = tuple[int, bytes, Any]  # database, key, and a copy of its value with its expiry


class Session(Protocol):
    """One client's connection. author: of the command that is executed next."""

    author: Author

    def execute(self, words: list[bytes], refusal: str = "") -> None:
        """Executes a command; its reply, and events for others, wait in their sessions. refusal: the error that a write
        is answered with, if any."""
        ...

    def answer(self, reply: Any) -> None:
        """Replies without asking the database."""
        ...

    def replies(self) -> list[bytes]:
        """What is to be sent to this client now, in RESP2."""
        ...

    def close(self) -> None:
        """The connection has ended."""
        ...


class Data(Protocol):
    """The data of one server. lasting: what was acknowledged is on the disks of a quorum, so that neither the restart
    of a member nor a change of the leader loses it."""

    lasting: bool

    def session(self) -> Session: ...

    def news(self) -> Iterable[News]:
        """The keys that are not as they were at the last call; of a key that is gone, None for its value."""
        ...

    def until(self, name: str) -> float | None:
        """When a key without an expiry of its own will be gone by what is known now, in seconds of the run: a session's
        or a lease's end. None: never."""
        ...

    def restarted(self, keep_data: bool) -> Data:
        """The database of a server that has come back, with its data or empty."""
        ...

    def delete(self, name: str) -> None:
        """Removes a key that `news` calls by this name."""
        ...

    def copies(self, names: Collection[str]) -> dict[str, Copied]:
        """Copies of these keys, for the `put` of a replica."""
        ...

    def put(self, number: int, key: bytes, item: Any) -> None:
        """Stores a copy."""
        ...
