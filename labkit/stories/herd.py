"""Waiting in a queue of ZooKeeper's: whom a release wakes. One holder after the other, until all have had their turn.

`wake_ups(timeline)` counts in the run itself: how many clients each change of the queue has told something.
"""

from __future__ import annotations

import string
import time
from collections import Counter
from types import SimpleNamespace
from typing import Any

from ..locks.broken.herd import HerdLock
from ..locks.zookeeper import ZooKeeperLock
from ..story import Param, Story
from ..timeline import Timeline
from ._actors import TTL

RECIPES = {"predecessor": ZooKeeperLock, "herd": HerdLock}
MOST = 20  # waiters
NAMES = string.ascii_uppercase[: MOST + 1]


def queueing(nth: int) -> Any:
    """The client that comes as number `nth`; the first one holds, the others wait."""

    def actor(me: Any, p: SimpleNamespace) -> None:
        if nth > p.waiters:
            return
        time.sleep(nth * 0.01)
        zk = me.zookeeper("zk", timeout=p.ttl)
        lock = me.lock(RECIPES[p.recipe](zk, "/stock"), ttl=p.ttl)
        lease = lock.acquire(100.0)
        if lease is not None:
            time.sleep(p.work)
            lock.release(lease)
        zk.stop()

    return actor


def wake_ups(timeline: Timeline) -> list[int]:
    """For each change that somebody watched for, in order: how many clients were told of it. A client is woken by what
    it has not asked for: what arrives goes back to somebody else's request, or to nobody's."""
    told: Counter[int] = Counter()
    for event in timeline.find("deliver"):
        change = None if event.cause is None else timeline.events[event.cause]
        if change is not None and change.kind != "send" and _asked(timeline, change) != event.node:
            told[change.seq] += 1
    return [told[seq] for seq in sorted(told)]


def _asked(timeline: Timeline, event: Any) -> str | None:
    """Whose request a server's event goes back to."""
    while event.cause is not None:
        event = timeline.events[event.cause]
        if event.kind == "send":
            return str(event.node)
    return None


herd = Story(
    name="herd",
    claim="The holder releases, and so does the next one, and the next. How many waiters are woken each time?",
    params={
        "recipe": Param("predecessor", choices=tuple(RECIPES), unit="", label="each waits for"),
        "waiters": Param(5, 1, MOST, 1, unit="", label="clients that wait"),
        "work": Param(0.5, 0.0, 2.0, 0.1, label="each holds it for"),
        "ttl": TTL,
    },
    actors={name: queueing(nth) for nth, name in enumerate(NAMES)},
    servers=(),
)
