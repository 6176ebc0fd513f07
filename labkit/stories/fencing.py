"""Section four, fencing: a holder that comes late, and a store that can refuse it. A adds one under a lock and stands
still; B adds one meanwhile; then A goes on as if nothing had happened.

What the store looks at is a parameter: the name of a kind in STORES, or a class of the reader's own that is made as
`kind(client, name)`. It stands on a server of its own, `shop`. A lease without a fencing token has nothing to show to a
store, so under a lock that mints none everything is written unchecked. Where tokens come from: see `tokens`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

from ..faults import Failover, Pause, Replica
from ..locks import LeaseLost
from ..stores import FencedRegister, Register
from ..stores.broken import OwnerlessRegister, PerRowRegister, StrictRegister, WriteOnlyRegister
from ..story import Param, Story
from ._actors import LOCK, TTL, lock_of

STORES: dict[str, Any] = {
    "unchecked": Register,
    "write-only": WriteOnlyRegister,  # the article's rule in words
    "strict": StrictRegister,  # and in code
    "ownerless": OwnerlessRegister,
    "contract": FencedRegister,
}
NOBODY = (None, WriteOnlyRegister.register, StrictRegister.register)  # where nobody registers

FENCED = replace(LOCK, default="fenced")
STORE = Param("unchecked", choices=tuple(STORES), unit="", label="store", classes=True)
CONTRACT = replace(STORE, default="contract")
PAUSE = Param(12.0, 0.0, 60.0, 0.5, label="A stands still for")
COMES = Param(10.1, 0.0, 60.0, 0.1, label="B comes at")


def store_of(me: Any, p: SimpleNamespace, lease: Any) -> Any:
    """The watched store of this run; one that checks nothing for a lease that has nothing to show."""
    kind = STORES[p.store] if isinstance(p.store, str) else p.store
    return me.store((kind if fenced(lease) else Register)(me.redis("shop"), "sold"))


def fenced(lease: Any) -> bool:
    return getattr(lease, "fence", None) is not None


def register(store: Any, lease: Any) -> bool:
    """Whether this holder may go on."""
    return getattr(type(store), "register", None) in NOBODY or bool(store.register(lease))


def write(store: Any, value: int, lease: Any) -> bool:
    """Whether the store took it. Only a store that knows how to register holders wants to see the lease."""
    return (store.write(value, lease) if hasattr(store, "register") else store.write(value)) is not False


def leave(me: Any, lock: Any, lease: Any) -> None:
    """Gives the lock back. That it may be lost is what these stories are about."""
    try:
        lock.release(lease)
    except LeaseLost as lost:
        me.note(f"{me.name} learns it at its release: {lost.reason}")


# -- one resource ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pace:
    """Seconds that a holder lets pass before it reads, and between reading and writing."""

    before: float
    between: float


def add_one(me: Any, p: SimpleNamespace, lease: Any, pace: Pace, look: bool = False) -> bool:
    """Registers, reads, thinks, writes one more; whoever is refused stops. look: at the clock, before it writes."""
    store = store_of(me, p, lease)
    if not register(store, lease):
        return False
    time.sleep(pace.before)
    seen = store.read()
    time.sleep(pace.between)
    if look and not lease.remaining():
        me.note(f"{me.name} looks at its clock and stops")
        return False
    return write(store, seen + 1, lease)


def adding(pace: Pace, comes: Callable[[SimpleNamespace], float], looks: bool = False) -> Callable[..., None]:
    """A client that comes at its time and adds one under the lock."""

    def actor(me: Any, p: SimpleNamespace) -> None:
        time.sleep(comes(p))
        lock = lock_of(me, p)
        lease = lock.acquire(60.0)
        if lease is not None:
            add_one(me, p, lease, pace, looks and p.look == "yes")
            time.sleep(0.5)
            leave(me, lock, lease)

    return actor


def at_once(p: SimpleNamespace) -> float:
    return 0.0


def when_it_comes(p: SimpleNamespace) -> float:
    return float(p.comes)


def unhurried(me: Any, p: SimpleNamespace) -> None:
    """B, which works for as long as the story says."""
    adding(Pace(0.0, p.think), when_it_comes)(me, p)


late_write = Story(
    name="late-write",
    claim="A stands still between reading and writing, for longer than its lease. What does the store accept?",
    params={
        "store": STORE,
        "lock": FENCED,
        "ttl": TTL,
        "pause": PAUSE,
        "comes": COMES,
        "think": Param(1.0, 0.0, 30.0, 0.5, label="B works for"),
        "look": Param("no", choices=("no", "yes"), unit="", label="A looks at its clock before it writes"),
    },
    actors={"A": adding(Pace(1.0, 2.0), at_once, looks=True), "B": unhurried},
    faults=lambda p: [Pause("A", lasting=p.pause, at=2.0)] if p.pause else [],
    servers=("redis", "shop"),
    durable=("shop",),
    until=300.0,
)

weak_store = Story(
    name="weak-store",
    claim="The store fails over to a replica that lags behind. What is left of a write that it had accepted?",
    params={
        "store": CONTRACT,
        "lock": FENCED,
        "ttl": TTL,
        "pause": PAUSE,
        "comes": COMES,
        "lag": Param(2.0, 0.0, 10.0, 0.1, label="the replica lags by"),
        "at": Param(12.0, 0.0, 60.0, 0.1, label="the store dies at"),
    },
    actors={"A": adding(Pace(1.0, 2.0), at_once), "B": adding(Pace(0.0, 1.0), when_it_comes)},
    faults=lambda p: [Pause("A", p.pause, at=2.0), Replica("shop-2", "shop", p.lag), Failover("shop", "shop-2", p.at)],
    servers=("redis", "shop"),
    until=300.0,
)


# -- several rows, one lock --------------------------------------------------------------------------------------------

LOCKED = "order-7"
ORDER = "{order-7}"  # what the lock protects: all keys with these braces


def row(me: Any, p: SimpleNamespace, lease: Any, name: str) -> Any:
    """One row of the order, which the lock protects as a whole."""
    redis, key, title = me.redis("shop"), f"{ORDER}:{name}", f"{LOCKED}:{name}"
    if not fenced(lease):
        return me.store(Register(redis, key), title)
    kind = PerRowRegister if p.guards == "one a row" else FencedRegister
    return me.store(kind(redis, key, ORDER), title)


def books_an_item(me: Any, p: SimpleNamespace) -> None:
    """A: registers wherever it may write, looks at the order's status, and books an item."""
    lock = lock_of(me, p, LOCKED)
    lease = lock.acquire(60.0)
    status, items = row(me, p, lease, "status"), row(me, p, lease, "items")
    if register(status, lease) and register(items, lease):
        status.read()
        time.sleep(2.0)
        write(items, 1, lease)
    leave(me, lock, lease)


def cancels(me: Any, p: SimpleNamespace) -> None:
    """B: cancels the order, for which it needs the row of its status alone."""
    time.sleep(p.comes)
    lock = lock_of(me, p, LOCKED)
    lease = lock.acquire(60.0)
    status = row(me, p, lease, "status")
    if register(status, lease):
        write(status, CANCELLED, lease)
    time.sleep(5.0)
    leave(me, lock, lease)


CANCELLED = 9

two_rows = Story(
    name="two-rows",
    claim="A lock protects an order with all its rows. A comes late to a row that B has not touched: who refuses it?",
    params={
        "guards": Param("one a row", choices=("one a row", "one"), unit="", label="guards"),
        "lock": FENCED,
        "ttl": TTL,
        "pause": PAUSE,
        "comes": COMES,
    },
    actors={"A": books_an_item, "B": cancels},
    faults=lambda p: [Pause("A", lasting=p.pause, at=1.0)],
    servers=("redis", "shop"),
    durable=("shop",),
    until=300.0,
)
