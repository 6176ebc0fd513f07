"""What the actors of several stories do."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from redis.backoff import NoBackoff
from redis.retry import Retry

from ..locks import LOCKS
from ..story import Param

LOCK = Param("safe", choices=tuple(LOCKS), unit="", label="lock", classes=True)
TTL = Param(10.0, 1.0, 60.0, 1.0, label="TTL")


def lock_of(me: Any, p: SimpleNamespace, key: str = "stock", client: Any = None) -> Any:
    """A watched lock of the kind that the story is played with: a name of the list, or any class like them."""
    kind = LOCKS[p.lock] if isinstance(p.lock, str) else p.lock
    return me.lock(kind(client or me.redis(), key, p.ttl, poll=1.0))


def impatient(me: Any, wait: float, server: str = "redis") -> Any:
    """A client that hears after `wait` seconds that it gets no answer, and does not ask again by itself."""
    return me.redis(server, socket_timeout=wait, socket_connect_timeout=wait, retry=Retry(NoBackoff(), 0))
