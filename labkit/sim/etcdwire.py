"""How a client of the world reaches etcd: what HTTP is to the gateway, over the world's wire.

    lock = EtcdLock(EtcdClient(*me.etcd("etcd")), "stock")

`post` is one request and its answer, on a connection of its own; `watch` opens a stream. Neither asks again by itself:
no answer is the built-in TimeoutError or ConnectionError, and whether it has happened is unknown.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from redis import exceptions
from redis.backoff import NoBackoff
from redis.retry import Retry

from .etcd import CALLS

if TYPE_CHECKING:
    from .nodes import Client
    from .wire import WorldConnection


class EtcdWire:
    """What a client of `server` needs. timeout: seconds to wait for a connection, and for an answer."""

    def __init__(self, client: Client, server: str, timeout: float) -> None:
        self._client, self._server, self._timeout = client, server, timeout

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """The gateway's answer, be it a result or an error. Raises ValueError for a path that the model does not have,
        TimeoutError or ConnectionError where there is no answer."""
        line = self._sent(path, body)
        try:
            return _read(line, self._timeout)
        finally:
            line.disconnect()  # type: ignore[no-untyped-call]

    def watch(self, body: dict[str, Any]) -> EtcdStream:
        """A stream of what the gateway tells of a watch. Raises as `post`."""
        return EtcdStream(self._sent("/v3/watch", body))

    def _sent(self, path: str, body: dict[str, Any]) -> WorldConnection:
        """A new connection on which the request is under way."""
        if path not in CALLS:
            raise ValueError(f"This model of etcd has no {path!r}; it has {', '.join(CALLS)}.")
        wait = {"socket_timeout": self._timeout, "socket_connect_timeout": self._timeout}
        line = self._client.wire(self._server, retry=Retry(NoBackoff(), 0), **wait)
        words = [CALLS[path], *readable(path, body), json.dumps(body, separators=(",", ":"))]
        with _plain_errors():
            line.send_command(*words)  # type: ignore[no-untyped-call]
        return line


class EtcdStream:
    """What comes on a watch, one message at a time."""

    def __init__(self, line: WorldConnection) -> None:
        self._line = line

    def read(self, timeout: float) -> dict[str, Any] | None:
        """The next message; None if there is none within `timeout` seconds. Raises ConnectionError at the end."""
        try:
            return _read(self._line, timeout)
        except TimeoutError:
            return None

    def close(self) -> None:
        self._line.disconnect()  # type: ignore[no-untyped-call]


def _read(line: WorldConnection, timeout: float) -> dict[str, Any]:
    with _plain_errors():
        answer: dict[str, Any] = json.loads(line.read_response(timeout=timeout, disconnect_on_error=False))
        return answer


@contextmanager
def _plain_errors() -> Iterator[None]:
    """The errors of the standard library in place of redis-py's: etcd's client knows nothing of Redis."""
    try:
        yield
    except exceptions.TimeoutError as error:
        raise TimeoutError(str(error)) from None
    except exceptions.ConnectionError as error:
        raise ConnectionError(str(error)) from None


def readable(path: str, body: dict[str, Any]) -> list[str]:
    """Words for whoever reads the timeline: the body has its keys in base64."""
    body = body.get("create_request", body)
    if "key" in body:
        return [_plain_key(str(body["key"]))]
    if path.startswith("/v3/lease"):
        return [f"{body['TTL']} s"] if "TTL" in body else [f"lease {body.get('ID')}"]
    operations = [next(iter(one.items())) for one in body.get("success", ()) if one]
    return [word for name, what in operations for word in (name.removeprefix("request_"), *readable("", what))]


def _plain_key(key: str) -> str:
    """A key out of its base64; what is none is the server's to refuse."""
    try:
        return base64.b64decode(key).decode("utf-8", "backslashreplace")
    except ValueError:
        return key
