"""Section seven, practice: an order that is paid late, the last piece in stock, and the traps of a lock in daily use: a
slow call in or before the lock, two locks at once, an unlock too few.

Data are in a database, `db`, where they can be: much of what looks like work for a lock is one conditional statement
there. Each story has a parameter that repairs it. A lock for each order where all share one item: see `finer-keys`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

from ..faults import Pause
from ..locks import ReentrantLock, WatchdogLock
from ..stores import Gateway
from ..story import Param, Story
from ._actors import LOCK, TTL, lock_of
from ._database import cell
from .fencing import leave
from .redlock import FIVE, acquire, quorum, quorum_lock, work

PAUSE = Param(15.0, 0.0, 60.0, 0.5, label="A stands still for")


# -- the state of an order ---------------------------------------------------------------------------------------------


def sets(state: str, comes: Callable[[SimpleNamespace], float], thinks: float) -> Callable[..., None]:
    """A client that sets the state of an unpaid order, under the lock. To set it twice does no harm."""

    def actor(me: Any, p: SimpleNamespace) -> None:
        order = cell(me, "order-7", "UNPAID")
        time.sleep(comes(p))
        lock = quorum_lock(me, p)
        lease = acquire(me, lock, 2 * p.ttl)
        if lease is None:
            return
        if order.read() == "UNPAID":
            time.sleep(thinks)
            order.write(state, "value = 'UNPAID'" if p.update == "conditional" else "1")
        work(me, lock, lease, 0.0)

    return actor


order_state = Story(
    name="order-state",
    claim="A pays and stands still; B finds the order unpaid and cancels it; A goes on. What is the order?",
    params={
        "update": Param("plain", choices=("plain", "conditional"), unit="", label="UPDATE"),
        "lock": quorum(),
        "ttl": TTL,
        "pause": PAUSE,
    },
    actors={"A": sets("PAID", lambda p: 0.0, 2.0), "B": sets("CANCELLED", lambda p: p.ttl / 2, 0.5)},
    faults=lambda p: [Pause("A", lasting=p.pause, at=1.0)] if p.pause else [],
    servers=(*FIVE, "db"),
    durable=("db",),
)


# -- the last piece ----------------------------------------------------------------------------------------------------


def sells(comes: float) -> Callable[..., None]:
    """A client that sells the piece that is left, if it is, and has it shipped."""

    def actor(me: Any, p: SimpleNamespace) -> None:
        stock, warehouse = cell(me, "pieces", 1), me.store(Gateway(me.redis("shop"), "warehouse"))
        time.sleep(comes)
        if (taken_by_statement if p.by == "statement" else taken_under_lock)(me, p, stock):
            warehouse.do("ship the last piece")

    return actor


def taken_under_lock(me: Any, p: SimpleNamespace, stock: Any) -> bool:
    lock = lock_of(me, p)
    lease = lock.acquire(60.0)
    if lease is None:
        return False
    left = stock.read()
    time.sleep(2.0)
    if left >= 1:
        stock.write(left - 1)
    leave(me, lock, lease)
    return bool(left >= 1)


def taken_by_statement(me: Any, p: SimpleNamespace, stock: Any) -> bool:
    time.sleep(2.0)
    taken = bool(stock.do("take one"))
    me.note("one row changed: ship it" if taken else "no row changed: nothing to ship")
    return taken


last_piece = Story(
    name="last-piece",
    claim="One piece is left, and A stands still while it sells it. How often is it shipped?",
    params={
        "by": Param("lock", choices=("lock", "statement"), unit="", label="protected by"),
        "lock": LOCK,
        "ttl": TTL,
        "pause": PAUSE,
    },
    actors={"A": sells(0.0), "B": sells(0.5)},
    faults=lambda p: [Pause("A", lasting=p.pause, at=1.0)] if p.pause else [],
    servers=("redis", "db", "shop"),
    durable=("db", "shop"),
)


# -- a slow call -------------------------------------------------------------------------------------------------------


def discounted(total: int, seconds: float) -> int:
    """What the slow service answers: the total less the coupon."""
    time.sleep(seconds)
    return total - 2


def redeems(me: Any, p: SimpleNamespace) -> None:
    """A: has a coupon, of which a slow service says what it is worth for this order."""
    total, lock = cell(me, "total", 10), lock_of(me, p, "order-7")
    for _ in range(5):
        seen, early = asked(total, p) if p.call != "inside" else (0, 0)
        lease = lock.acquire(60.0)
        if lease is None:
            return
        if p.call == "inside":
            seen, early = asked(total, p)
        written = total.write(early, as_seen(p, seen))
        leave(me, lock, lease)
        if written:
            return


def as_seen(p: SimpleNamespace, seen: int) -> str:
    """On what condition a total is written that follows from the one seen."""
    return f"value = {seen}" if p.call == "checked" else "1"


def asked(total: Any, p: SimpleNamespace) -> tuple[int, int]:
    """What the total was, and what it is with the coupon."""
    seen = total.read()
    return seen, discounted(seen, p.takes)


def adds_an_item(me: Any, p: SimpleNamespace) -> None:
    """B: adds an item of ten to the same order."""
    time.sleep(3.0)
    total, lock = cell(me, "total", 10), lock_of(me, p, "order-7")
    written = False
    while not written and (lease := lock.acquire(60.0)) is not None:
        seen = total.read()
        time.sleep(3.0)
        written = total.write(seen + 10, as_seen(p, seen))
        leave(me, lock, lease)


slow_call = Story(
    name="slow-call",
    claim="A asks a slow service for a price, and B adds an item to the order meanwhile. Is the item paid for?",
    params={
        "call": Param("before", choices=("before", "checked", "inside"), unit="", label="the call and the lock"),
        "lock": LOCK,
        "ttl": TTL,
        "takes": Param(5.0, 0.0, 30.0, 0.5, label="the call takes"),
    },
    actors={"A": redeems, "B": adds_an_item},
    servers=("redis", "db"),
    durable=("db",),
    until=300.0,
)


# -- two locks at once -------------------------------------------------------------------------------------------------


def needs(*items: str) -> Callable[..., None]:
    """A client whose order lists these items, and that locks each of them."""

    def actor(me: Any, p: SimpleNamespace) -> None:
        held = list[Any]()
        for item in sorted(items) if p.order == "sorted" else items:
            lock = lock_of(me, p, item)
            lease = lock.acquire(1.5 * p.ttl)
            if lease is None:
                break
            held.append((lock, lease))
            time.sleep(1.0)
        for lock, lease in reversed(held):
            leave(me, lock, lease)

    return actor


crossed_locks = Story(
    name="crossed-locks",
    claim="Two orders want the same two items, and list them in another order. Who gets both locks?",
    params={
        "order": Param("as-listed", choices=("as-listed", "sorted"), unit="", label="locks are taken"),
        "lock": LOCK,
        "ttl": TTL,
    },
    actors={"A": needs("cup", "tea"), "B": needs("tea", "cup")},
    until=300.0,
)


# -- an unlock too few -------------------------------------------------------------------------------------------------


def forgets(me: Any, p: SimpleNamespace) -> None:
    """A: comes in three times, leaves as often as the story says, and does something else in the same thread."""
    kind = partial(WatchdogLock, kind=ReentrantLock) if p.watchdog == "yes" else ReentrantLock
    lock = me.lock(kind(me.redis(), "stock", p.ttl, 1.0))
    leases = [lock.acquire(0.0) for _ in range(3)]
    time.sleep(1.0)
    for lease in leases[: 3 - p.unlocks - 1 : -1]:
        lock.release(lease)
    if p.unlocks < 3:
        me.leaves("A's work is done, with an unlock too few; its thread lives on")
    time.sleep(p.alive)


def waits(me: Any, p: SimpleNamespace) -> None:
    """B: wants the lock for a moment."""
    time.sleep(0.5)
    lock = me.lock(ReentrantLock(me.redis(), "stock", p.ttl, 1.0))
    if (lease := lock.acquire(150.0)) is not None:
        leave(me, lock, lease)


forgotten_unlock = Story(
    name="forgotten-unlock",
    claim="A locks three times and unlocks twice, and its thread lives on. When is the lock free?",
    params={
        "unlocks": Param(2, 1, 3, 1, unit="", label="unlocks"),
        "watchdog": Param("yes", choices=("yes", "no"), unit="", label="under a watchdog"),
        "ttl": replace(TTL, low=3.0),
        "alive": Param(100.0, 0.0, 120.0, 1.0, label="the thread lives on for"),
    },
    actors={"A": forgets, "B": waits},
    until=300.0,
)
