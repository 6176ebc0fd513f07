"""Section two, SET NX PX: what may go wrong between the first command and the last, on a server that does not fail."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from ..faults import Crash, Delay, DropReply, Duplicate
from ..locks import LeaseLost
from ..story import Param, Story
from ._actors import LOCK, TTL, lock_of


def work_once(me: Any, p: SimpleNamespace, seconds: float = 1.0, wait: float = 60.0, lock: Any = None) -> None:
    """Acquire, work, release: the code that everybody writes."""
    lock = lock or lock_of(me, p)
    lease = lock.acquire(wait)
    if lease is not None:
        time.sleep(seconds)
        with suppress(LeaseLost):
            lock.release(lease)


def starting(at: float, seconds: float = 1.0) -> Any:
    """An actor that begins at second `at` and works for `seconds`."""

    def actor(me: Any, p: SimpleNamespace, lock: Any = None) -> None:
        time.sleep(at)
        work_once(me, p, seconds, lock=lock)

    return actor


def first(me: Any, p: SimpleNamespace) -> None:
    work_once(me, p, getattr(p, "work", 1.0))


def last(me: Any, p: SimpleNamespace) -> None:
    """Comes just before A is done, so that whoever waited longer goes first."""
    time.sleep(max(p.work - 0.4, 0.0))
    work_once(me, p, 4.0)


def lock_param(default: str) -> Param:
    """The choice of a lock, with another one first."""
    return replace(LOCK, default=default)


WORK = Param(12.0, 0.0, 60.0, 0.5, label="A works for")

crash_between = Story(
    name="crash-between",
    claim="A client dies while it acquires the lock. Will anybody ever get it again?",
    params={
        "lock": lock_param("two-step"),
        "ttl": TTL,
        "crash": Param(0.8, 0.0, 5.0, 0.1, unit="ms", label="A dies after"),
    },
    actors={"A": first, "B": starting(0.5)},
    faults=lambda p: [Crash("A", at=p.crash / 1000)],
    until=70.0,
)

late_release = Story(
    name="late-release",
    claim="A works longer than its lease lasts, and releases. Whose lock does it delete?",
    params={"lock": lock_param("plain-del"), "ttl": TTL, "work": WORK},
    actors={"A": first, "B": starting(1.0, 5.0), "C": last},
)


def two_threads(me: Any, p: SimpleNamespace) -> None:
    lock = lock_of(me, p)
    me.start(starting(1.0, 5.0), p, lock, lane="T2")
    work_once(me, p, p.work, lock=lock)


shared_id = Story(
    name="shared-id",
    claim="Two threads of one client use the same value. Does the compare-and-delete still protect them?",
    params={"lock": lock_param("shared-id"), "ttl": TTL, "work": WORK},
    actors={"A": two_threads, "C": last},
)

lost_grant = Story(
    name="lost-grant",
    claim="The reply to A's SET is lost, and the client library sends it again. What is A told?",
    params={"lock": lock_param("ghost"), "ttl": TTL},
    actors={"A": lambda me, p: work_once(me, p, wait=0.0), "B": starting(6.0)},
    faults=lambda p: [DropReply(on="SET", client="A")],
)

lost_release = Story(
    name="lost-release",
    claim="The reply to A's release is lost, and the client library sends it again. What is A told?",
    params={"lock": lock_param("ghost"), "ttl": TTL},
    actors={"A": first, "B": starting(0.5)},
    faults=lambda p: [DropReply(on=word, client="A") for word in ("EVAL", "EVALSHA", "DEL")],
)

delayed_release = Story(
    name="delayed-release",
    claim="A's release stays in the network until the lease is over and B has the lock. What does it do there?",
    params={
        "lock": lock_param("plain-del"),
        "ttl": TTL,
        "by": Param(12.0, 0.0, 30.0, 0.5, label="late by"),
    },
    actors={"A": first, "B": starting(2.0, 7.0), "C": starting(3.0, 5.0)},
    faults=lambda p: [Delay(on=word, client="A", by=p.by) for word in ("EVAL", "EVALSHA", "DEL")],
)

duplicate_release = Story(
    name="duplicate-release",
    claim="A's release arrives twice, the second time when B holds the lock. What does the copy do?",
    params={
        "lock": lock_param("plain-del"),
        "ttl": TTL,
        "after": Param(2.0, 0.0, 30.0, 0.5, label="the copy comes after"),
    },
    actors={"A": first, "B": starting(0.5, 5.0), "C": starting(1.0, 2.0)},
    faults=lambda p: [Duplicate(on=word, client="A", after=p.after) for word in ("EVAL", "EVALSHA", "DEL")],
)

ttl_dilemma = Story(
    name="ttl-dilemma",
    claim="How long should the lease be: longer than the work, or shorter than you can wait after a crash?",
    params={
        "lock": LOCK,
        "ttl": TTL,
        "work": Param(8.0, 0.5, 60.0, 0.5, label="A works for"),
        "crash": Param("no", choices=("no", "yes"), unit="", label="A dies after 1 s"),
    },
    actors={"A": first, "B": starting(0.5)},
    faults=lambda p: [Crash("A", at=1.0)] if p.crash == "yes" else [],
)
