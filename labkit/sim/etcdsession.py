"""One connection to the model of etcd: calls and their answers, or a watch and what it tells.

A watch is given every change from its revision on, those of the past at once, the others with the answer to whoever
makes them. Answers are the JSON of the gateway, one RESP string each.
"""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from .data import Author
from .etcdkeys import INVALID, Change, Kinds, Refused, covers, fields, text
from .redisserver import encode

if TYPE_CHECKING:
    from .etcd import Etcd

WATCH: Kinds = {"key": bytes, "range_end": bytes, "start_revision": int}


class Session:
    """One connection: any number of calls, or a watch."""

    def __init__(self, etcd: Etcd) -> None:
        self.author: Author = ("", None)
        self._etcd = etcd
        self._outbox: list[Any] = []
        self._watch: SimpleNamespace | None = None

    def execute(self, words: list[bytes], refusal: str = "") -> None:
        """words: the call by its name, words for the reader of a timeline, the body."""
        name = words[0].decode().upper()
        try:
            body = json.loads(words[-1])
            reply = self._open(body) if name == "WATCH" else self._etcd.call(name, body, self.author)
        except Refused as error:
            reply = {"error": str(error), "message": str(error), "code": error.code}
        except json.JSONDecodeError as error:
            reply = {"error": str(error), "message": str(error), "code": INVALID}
        self._outbox.append(reply)

    def _open(self, body: Any) -> dict[str, Any]:
        """A watch of a key or a range: its first word is that it is there, then come all changes from start_revision on
        (from now on, if there is none), those of the past at once."""
        asked = fields("watch", body, {"create_request": dict}) if isinstance(body, dict) else None
        self._watch = fields("watch", asked.create_request if asked else body, WATCH)
        history = self._etcd.keys.history
        start = self._watch.start_revision or self._etcd.keys.revision + 1
        self._watch.at = next((n for n, change in enumerate(history) if change[0] >= start), len(history))
        self._watch.start = start
        return {"result": {"created": True} | self._etcd.keys.header()}

    def _events(self) -> list[dict[str, Any]]:
        if self._watch is None:
            return []
        watch, history = self._watch, self._etcd.keys.history
        changes, watch.at = history[watch.at :], len(history)
        return [_told(change) for change in changes if change[0] >= watch.start and covers(watch, change[1].key)]

    def answer(self, reply: Any) -> None:
        """Replies without asking the database."""
        self._outbox.append(reply)

    def replies(self) -> list[bytes]:
        """What waits to be sent, and what has happened that this session watches for."""
        waiting, self._outbox = self._outbox, []
        if events := self._events():
            waiting.append({"result": {"events": events} | self._etcd.keys.header()})
        return [
            encode(json.dumps(reply, separators=(",", ":")) if isinstance(reply, dict) else reply) for reply in waiting
        ]

    def close(self) -> None:
        self._watch = None


def _told(change: Change) -> dict[str, Any]:
    _, entry, there = change
    if there:
        return {"kv": entry.told()}
    return {"type": "DELETE", "kv": {"key": text(entry.key), "mod_revision": str(entry.mod_revision)}}
