"""What questions hand to the learner's code: the lock of the contract, and the marks by which a judge finds its way."""

from __future__ import annotations

import time
from typing import Any

from redis.backoff import NoBackoff
from redis.retry import Retry

from ..locks import SafeLock

PATIENT = 200  # renewals; a run that is right makes some forty


class DrillLock(SafeLock):
    """The lock that a learner is given. interrupt: what `extend` raises, and at which call. Who asks without end has to
    wait a little, within the contract's TTL/20: so a run of an answer that never waits comes to its end, and can be
    judged."""

    interrupt: tuple[int, type[BaseException]] | None = None
    asked = 0

    def extend(self, lease: Any) -> Any:
        self.asked += 1
        if self.interrupt and self.asked == self.interrupt[0]:
            raise self.interrupt[1]("as if from Ctrl-C")
        if self.asked > PATIENT:
            time.sleep(self.ttl / 100)
        return super().extend(lease)


def given(me: Any, name: str, ttl: float, interrupt: tuple[int, type[BaseException]] | None = None) -> Any:
    """A watched lock for the client `me`. One command and, at the worst, one connection: a call ends within TTL/25,
    under the contract's TTL/20."""
    limit = ttl / 50
    client = me.redis(retry=Retry(NoBackoff(), 0), socket_timeout=limit, socket_connect_timeout=limit)
    lock = DrillLock(client, name, ttl)
    lock.interrupt = interrupt
    return me.lock(lock)


def mark(me: Any, what: str, text: str, **data: Any) -> None:
    """Notes a moment that a judge looks for: `what` it is, and the sentence for the reader."""
    me.world.emit(me.name, "note", text, {"drill": what, **data})
