"""The part of etcd's client that a lock needs, over any transport: keys and revisions, transactions, leases, a watch of
one key until it goes.

`EtcdClient(post, watch)` is given how to reach the server: `post(path, body)` returns the JSON answer of etcd's HTTP
gateway, `watch(body)` opens a stream with `read(timeout)` and `close()`. It never asks twice: a call without an answer
raises the transport's own OSError (TimeoutError, ConnectionError), and then what it did is unknown.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Operation = dict[str, Any]
NOT_FOUND = 5  # the code for a lease that is not there
NO_ANSWER = (4, 14)  # the codes for a cluster that could not answer in time, or not at all


class EtcdError(Exception):
    """What the server refused, in its own words. code: of gRPC."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(f"etcd: {message} (code {code})")
        self.code = code


class LeaseGone(EtcdError):
    """There is no such lease, or not any more."""


@dataclass(frozen=True, slots=True)
class KeyValue:
    """A key as the server has it. create_revision: of the write that made it, the same until it is deleted.
    version: how many writes there were since.  lease: its number, 0 for none."""

    key: str
    value: str
    create_revision: int
    mod_revision: int
    version: int
    lease: int


@dataclass(frozen=True, slots=True)
class Txn:
    """What a transaction gave. succeeded: whether the comparisons held.  revision: of the whole store, after it.
    found: of each `get` among its operations, the keys."""

    succeeded: bool
    revision: int
    found: tuple[list[KeyValue], ...]


def compare(key: str, target: str, value: int | str, result: str = "EQUAL") -> Operation:
    """A condition on a key: its CREATE, MOD, VERSION, LEASE (numbers, 0 where there is no such key) or VALUE."""
    name = {"CREATE": "create_revision", "MOD": "mod_revision"}.get(target, target.lower())
    told = encode(value) if isinstance(value, str) else str(value)
    return {"key": encode(key), "target": target, "result": result, name: told}


def put(key: str, value: str = "", lease: int = 0) -> Operation:
    return {"request_put": {"key": encode(key), "value": encode(value), "lease": str(lease)}}


def delete(key: str) -> Operation:
    return {"request_delete_range": {"key": encode(key)}}


def get(key: str, prefix: bool = False, **how: Any) -> Operation:
    """The key, or with `prefix` all that begin so. how: the gateway's fields, such as limit or sort_target."""
    end = {"range_end": encode(key[:-1] + chr(ord(key[-1]) + 1))} if prefix else {}
    return {"request_range": {"key": encode(key)} | end | how}


class EtcdClient:
    """One object may serve many threads, if its transport does. Each call raises EtcdError for what is refused."""

    def __init__(self, post: Callable[[str, dict[str, Any]], dict[str, Any]], watch: Callable[..., Any]) -> None:
        self._post, self._stream = post, watch

    def txn(self, compare: Sequence[Operation], success: Sequence[Operation], failure: Sequence[Operation] = ()) -> Txn:
        """One atomic step: all comparisons, then `success` or else `failure`, in their order."""
        body = {"compare": list(compare), "success": list(success), "failure": list(failure)}
        answer = self._ask("/v3/kv/txn", body)
        ranges = [one["response_range"] for one in answer.get("responses", ()) if "response_range" in one]
        return Txn(answer.get("succeeded", False), _revision(answer), tuple(map(_keys, ranges)))

    def range(self, key: str, prefix: bool = False, **how: Any) -> list[KeyValue]:
        return _keys(self._ask("/v3/kv/range", get(key, prefix, **how)["request_range"]))

    def put(self, key: str, value: str = "", lease: int = 0) -> int:
        """The revision of this write."""
        return _revision(self._ask("/v3/kv/put", put(key, value, lease)["request_put"]))

    def delete(self, key: str) -> bool:
        """Whether there was such a key."""
        return "deleted" in self._ask("/v3/kv/deleterange", delete(key)["request_delete_range"])

    def lease_grant(self, ttl: int) -> tuple[int, int]:
        """A new lease: its number, and its seconds, which may be more than were asked for."""
        answer = self._ask("/v3/lease/grant", {"TTL": str(ttl)})
        return int(answer["ID"]), int(answer["TTL"])

    def lease_keep_alive(self, lease: int) -> int:
        """The seconds that the lease has again from now on; 0 if it is gone."""
        return int(self._ask("/v3/lease/keepalive", {"ID": str(lease)})["result"].get("TTL", 0))

    def lease_revoke(self, lease: int) -> bool:
        """Ends a lease, and deletes its keys; False if it was gone already."""
        try:
            self._ask("/v3/lease/revoke", {"ID": str(lease)})
        except LeaseGone:
            return False
        return True

    def watch(self, key: str, revision: int) -> Watch:
        """What happens to a key from `revision` on, also what has happened since then. Close it."""
        return Watch(self._stream({"create_request": {"key": encode(key), "start_revision": str(revision)}}))

    def _ask(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        return _checked(self._post(path, body))


class Watch:
    """One key under watch, for `with`."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def deleted(self, timeout: float) -> bool:
        """Waits until the key is deleted, for at most `timeout` seconds; False if it was not. May be asked again. True
        also when the server gives the watch up, as one from a revision that was compacted away: then it may be."""
        end = time.monotonic() + timeout
        while True:
            message = self._stream.read(max(end - time.monotonic(), 0.001))
            if message is None:
                return False
            told = _checked(message)["result"]
            if told.get("canceled") or any(event.get("type") == "DELETE" for event in told.get("events", ())):
                return True

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *exc: object) -> None:
        self._stream.close()


def encode(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _text(data: str) -> str:
    return base64.b64decode(data).decode("utf-8", "backslashreplace")


def _revision(answer: dict[str, Any]) -> int:
    return int(answer["header"]["revision"])


def _keys(answer: dict[str, Any]) -> list[KeyValue]:
    numbers = ("create_revision", "mod_revision", "version", "lease")
    return [
        KeyValue(_text(kv["key"]), _text(kv.get("value", "")), *(int(kv.get(name, 0)) for name in numbers))
        for kv in answer.get("kvs", ())
    ]


def _checked(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer that is no error. Raises EtcdError; where there is no leader to ask, ConnectionError: unknown."""
    error = answer.get("error")
    if error is None:
        return answer
    told = error if isinstance(error, dict) else answer  # in a stream the error is an object
    message, code = str(told.get("message", error)), int(told.get("code") or told.get("grpc_code") or 0)
    if code in NO_ANSWER:
        raise ConnectionError(f"etcd: {message} (code {code})")
    raise (LeaseGone if code == NOT_FOUND else EtcdError)(message, code)
