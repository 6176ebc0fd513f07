"""The frames between a ZooKeeper client of the world and its ensemble: RESP2 over a simulated stream.

Replies come in the order of the requests, as on the real one's connection; events come between them.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

from redis.exceptions import ResponseError

from .wire import RESP, Connection


class Frames:
    """The client's end of one connection."""

    def __init__(self, stream: Connection) -> None:
        self._stream = stream
        self._data = b""

    def send(self, data: bytes) -> None:
        """Who writes on a connection that has ended is not told; who reads is."""
        with suppress(BrokenPipeError):
            self._stream.sendall(data)

    def next(self, within: float) -> Any:
        """The next frame, or None if none is complete within so many seconds. Raises ConnectionError at the end of the
        stream."""
        end = time.monotonic() + within
        while True:
            try:
                frame, taken = parse(self._data, 0)
            except ValueError:  # it is not all here yet
                if not self._receive(end - time.monotonic()):
                    return None
            else:
                self._data = self._data[taken:]
                return frame

    def _receive(self, within: float) -> bool:
        self._stream.settimeout(max(within, 0.0))
        try:
            data = self._stream.recv(65_536)
        except TimeoutError:
            return False
        if not data:
            raise ConnectionResetError("the connection has ended")
        self._data += data
        return True

    def close(self) -> None:
        self._stream.close()


def pack(*words: str | bytes) -> bytes:
    """A request in RESP."""
    raw = [word if isinstance(word, bytes) else word.encode() for word in words]
    return b"*%d\r\n" % len(raw) + b"".join(b"$%d\r\n%b\r\n" % (len(word), word) for word in raw)


def parse(data: bytes, at: int) -> tuple[Any, int]:
    """The frame that starts at `at`, and where it ends; an error is a value. Raises ValueError if some is missing."""
    line = data.index(RESP, at)
    kind, text, at = data[at : at + 1], data[at + 1 : line], line + 2
    if kind == b"+":
        return text, at
    if kind == b"-":
        return ResponseError(text.decode()), at
    if kind == b":" or text == b"-1":
        return (int(text) if kind == b":" else None), at
    if kind == b"$":
        end = at + int(text)
        if len(data) < end + 2:
            raise ValueError("not all here")
        return data[at:end], end + 2
    items = []
    for _ in range(int(text)):
        item, at = parse(data, at)
        items.append(item)
    return items, at
