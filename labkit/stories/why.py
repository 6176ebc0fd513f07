"""Section one, why a lock: what two clients do to one counter, with a lock that only one of them sees, with a lock for
something else than what they share, and with a lock that is lost while its holder stands still."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

from ..faults import Pause
from ..locks import LOCKS, LeaseLost
from ..stores import Register
from ..story import Param, Story
from ._actors import LOCK, TTL, lock_of

STOCK = 1  # items there are to sell: the smallest shop in which something can be sold twice


class LocalLock:
    """A lock inside one process, named after what it is meant to protect."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._lock = threading.Lock()

    def acquire(self, timeout: float = -1) -> bool:
        return self._lock.acquire(timeout=timeout)

    def release(self, lease: object = None) -> None:
        self._lock.release()


def sell(me: Any, lock: Any, sold: Any, think: float) -> None:
    """Under the lock: read how many are sold, think, and write one more if there was one left."""
    lease = lock.acquire(60.0)
    if not lease:
        return
    count = sold.read()
    if count < STOCK:
        time.sleep(think)
        sold.write(count + 1)
        me.note(f"{me.name} ships one")
    with suppress(LeaseLost):
        lock.release(lease)


def seller(late: bool) -> Any:
    """A client that sells one, at once or `p.late` seconds later."""

    def actor(me: Any, p: SimpleNamespace) -> None:
        time.sleep(p.late if late else 0.0)
        lock = me.lock(LocalLock("stock")) if p.lock == "local" else lock_of(me, p)
        sell(me, lock, me.store(Register(me.redis(), "sold")), p.think)

    return actor


LATE = Param(0.5, 0.0, 60.0, 0.1, label="B comes after")
THINK = Param(2.0, 0.0, 60.0, 0.5, label="between read and write")

oversell = Story(
    name="oversell",
    claim="One item is left, and two processes sell. How many are shipped?",
    params={
        "lock": Param("local", choices=("local", *LOCKS), unit="", label="lock", classes=True),
        "ttl": TTL,
        "late": LATE,
        "think": THINK,
    },
    actors={"A": seller(late=False), "B": seller(late=True)},
    until=200.0,
)


def of_order(number: int) -> Any:
    """A client that handles one order for the SKU that all orders share."""

    def actor(me: Any, p: SimpleNamespace) -> None:
        time.sleep(0.0 if number == 1 else p.late)
        key = f"order:{number}" if p.keys == "order" else "sku:7"
        sell(me, lock_of(me, p, key), me.store(Register(me.redis(), "sold")), p.think)

    return actor


finer_keys = Story(
    name="finer-keys",
    claim="Two orders want the same item. Does a lock for each order protect it?",
    params={
        "lock": LOCK,
        "keys": Param("sku", choices=("sku", "order"), unit="", label="a lock for each"),
        "ttl": TTL,
        "late": LATE,
        "think": THINK,
    },
    actors={"A": of_order(1), "B": of_order(2)},
    until=200.0,
)


class Outbox:
    """What is put here is sent, each time anew, and nobody can take it back."""

    def __init__(self, client: Any, name: str) -> None:
        self.client, self.name = client, name

    def write(self, mail: str) -> None:
        self.client.rpush(self.name, mail)


def write_draft(me: Any, redis: Any) -> None:
    """If there is none yet. Everybody who writes this draft writes the same."""
    draft = me.store(Register(redis, "draft"))
    if not redis.exists("draft"):
        time.sleep(2.0)
        draft.write(7)


def send_mail(me: Any, redis: Any) -> None:
    """If none has been sent yet."""
    outbox = me.store(Outbox(redis, "outbox"))
    if not redis.llen("outbox"):
        time.sleep(2.0)
        outbox.write("order-7")


def count_sale(me: Any, redis: Any) -> None:
    """Each client has an item of its own to sell."""
    sold = me.store(Register(redis, "sold"))
    count = sold.read()
    time.sleep(2.0)
    sold.write(count + 1)


EFFECTS = {"stock": count_sale, "mail": send_mail, "draft": write_draft}


def doing(late: float) -> Any:
    """A client that does what the lock is there for, `late` seconds after the start."""

    def actor(me: Any, p: SimpleNamespace) -> None:
        time.sleep(late)
        redis = me.redis()
        lock = lock_of(me, p, client=redis)
        lease = lock.acquire(60.0)
        if lease is None:
            return
        EFFECTS[p.effect](me, redis)
        with suppress(LeaseLost):
            lock.release(lease)

    return actor


done_twice = Story(
    name="done-twice",
    claim="A loses its lock while it stands still, and B takes over. What does that cost?",
    params={
        "lock": LOCK,
        "ttl": TTL,
        "effect": Param("stock", choices=tuple(EFFECTS), unit="", label="what is done"),
        "pause": Param(15.0, 0.0, 60.0, 0.5, label="A pauses for"),
    },
    actors={"A": doing(0.0), "B": doing(0.5)},
    faults=lambda p: [Pause("A", lasting=p.pause, at=1.0)],
)
