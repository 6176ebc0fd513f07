"""A Redis server of the world: fakeredis behind a byte stream. The only file that imports fakeredis.

Commands come in as RESP bytes and are executed at one virtual instant; replies go out as RESP2. The truth is read from
the database after each command, never guessed from its text.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Container, Iterator
from json import JSONDecodeError
from typing import Any, cast

import fakeredis
from fakeredis._helpers import SimpleError
from fakeredis.model import ExpiringMembersSet
from fakeredis.model._command_info import is_write_command
from redis.exceptions import ConnectionError, RedisError, ResponseError

from .data import Author, Copied, News

_in_any_order = ExpiringMembersSet.__iter__
# the same order in each process, not that of hashes
ExpiringMembersSet.__iter__ = lambda self: iter(sorted(_in_any_order(self)))  # type: ignore[method-assign]


class Outbox:
    """Stands where fakeredis keeps its queue of replies; a plain list is all that one task at a time needs."""

    __slots__ = ("replies",)

    def __init__(self) -> None:
        self.replies: list[Any] = []

    def put(self, reply: Any) -> None:
        self.replies.append(reply)

    def set(self) -> None:
        """In place of the event that tells fakeredis' own client of a reply."""


class Database:
    """The data of one server. Build it inside a task of that server, so that its locks wait in virtual time."""

    lasting = False  # it keeps its data in memory

    def __init__(self, version: tuple[int, ...] = (7, 0)) -> None:
        self._server = fakeredis.FakeServer(version=version)
        self._known: dict[int, dict[bytes, tuple[Any, float | None]]] = {}  # what `news` has told, by database and key
        self.version = version

    def session(self) -> Session:
        return Session(self._server)

    def news(self) -> Iterator[News]:
        """The keys that are not as they were at the last call, each with its value as text (None: it is gone) and its
        expiry by this server's wall clock (None: never). Hashes, lists and sets come each time: they change in place.
        """
        for number, db in self._server.dbs.items():
            known = self._known.setdefault(number, {})
            for key, item in db._dict.items():
                state = item.value, item.expireat
                if known.get(key) != state or type(item.value) is not bytes:
                    known[key] = state
                    yield _name(number, key), _text(item.value), item.expireat, None
            if len(known) > len(db._dict):
                for key in [key for key in known if key not in db._dict]:
                    del known[key]
                    yield _name(number, key), None, None, None

    def until(self, name: str) -> float | None:
        """Redis' keys end by their own expiry only."""
        return None

    def restarted(self, keep_data: bool) -> Database:
        """A server that has come back: with its data or empty, in both cases without its cached scripts."""
        fresh = Database(self.version)
        if keep_data:
            for number, db in self._server.dbs.items():
                for key, item in db._dict.items():
                    fresh._server.dbs[number][key] = item
        return fresh

    def delete(self, name: str) -> None:
        """Removes the key that `news` calls by this name; its removal is no news any more, its return will be."""
        for number, db in self._server.dbs.items():
            for key in [key for key in db._dict if _name(number, key) == name]:
                del db._dict[key]
                self._known.get(number, {}).pop(key, None)

    def copies(self, names: Container[str]) -> dict[str, Copied]:
        """Copies of those keys that `news` calls by one of these names."""
        return {
            name: (number, key, copy.deepcopy(item))
            for number, db in self._server.dbs.items()
            for key, item in db._dict.items()
            if (name := _name(number, key)) in names
        }

    def put(self, number: int, key: bytes, item: Any) -> None:
        """Stores what `copies` took from another server, which is no news; the copy can be stored again elsewhere."""
        self._server.dbs[number][key] = stored = copy.deepcopy(item)
        self._known.setdefault(number, {})[key] = stored.value, stored.expireat


class Session:
    """One connection as the server sees it."""

    def __init__(self, server: fakeredis.FakeServer) -> None:
        self.author: Author = ("", None)
        connection = fakeredis.FakeRedisConnection(server=server, protocol=2, driver_info=None)
        self._socket = cast(Any, connection.get_socket())
        self._connection = connection  # it closes the socket when it is let go
        self._outbox = self._socket.responses = self._socket.response_ready = Outbox()

    def execute(self, words: list[bytes], refusal: str = "") -> None:
        """Runs one command, which the wire has parsed already; a blocking one waits here, in virtual time. refusal: the
        error that a write meets instead, also one within a script or a transaction."""
        try:
            if self._socket._killed:
                raise ConnectionError("Connection was closed by CLIENT KILL.")
            if refusal:
                self._socket._run_command = _without_writes(self._socket._run_command, refusal)
            self._socket._process_command(words)
        except RedisError as error:
            self._outbox.put(error)
        except JSONDecodeError:  # cjson.decode in a script; to Redis that is an error like any other
            self._outbox.put(ResponseError("ERR user_script: Expected value but found invalid token"))
        finally:
            if refusal:
                self._socket.__dict__.pop("_run_command", None)

    def answer(self, reply: Any) -> None:
        """Replies without asking the database."""
        self._outbox.put(reply)

    def replies(self) -> list[bytes]:
        """What is to be sent to the client: replies, and messages of channels it listens to."""
        if not self._outbox.replies:
            return []
        waiting, self._outbox.replies = self._outbox.replies, []
        return [encode(reply) for reply in waiting]

    def close(self) -> None:
        self._socket.close()


def _without_writes(run: Callable[..., Any], refusal: str) -> Callable[..., Any]:
    def run_reads(function: Any, signature: Any, *rest: Any) -> Any:
        if is_write_command(signature.name.encode()):
            return SimpleError(refusal)
        return run(function, signature, *rest)

    return run_reads


def encode(reply: Any) -> bytes:
    """A reply in RESP2."""
    if reply is None:
        return b"$-1\r\n"
    if isinstance(reply, bytes):
        return b"+OK\r\n" if reply == b"OK" else b"$%d\r\n%b\r\n" % (len(reply), reply)
    if isinstance(reply, (bool, int)):
        return b":%d\r\n" % reply
    if isinstance(reply, (list, tuple)):
        return b"*%d\r\n%b" % (len(reply), b"".join(map(encode, reply)))
    if isinstance(reply, Exception):
        return _error(reply)
    return encode(str(reply).encode())


def _error(error: Exception) -> bytes:
    """redis-py's parser has taken the code off the text: put it back, so that the client's parser finds it."""
    text = str(error).replace("\r", " ").replace("\n", " ")
    code = getattr(error, "status_code", None)
    return f"-{code} {text}\r\n".encode() if code else f"-{text}\r\n".encode()


def _name(number: int, key: bytes) -> str:
    """A key as a timeline calls it: the databases next to the first are told apart."""
    text = key.decode("utf-8", "backslashreplace")
    return f"{text} (db {number})" if number else text


def _text(value: Any) -> str:
    """A value as text; that of a hash, list or set depends on its content alone."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if hasattr(value, "items"):
        return str({_plain(k): _plain(v) for k, v in sorted(value.items())})
    if isinstance(value, (list, tuple)):
        return str([_plain(v) for v in value])
    return str(sorted(map(_plain, value))) if hasattr(value, "__iter__") else type(value).__name__


def _plain(value: Any) -> Any:
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else value
