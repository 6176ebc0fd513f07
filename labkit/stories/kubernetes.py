"""Question five, Kubernetes: the order of things when a pod is told to end, a pod that is cut off, and a primary on the
minority's side. A pod that is replaced while it lives on: see `ghosts`."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

from redis.exceptions import RedisError

from ..faults import Crash, Failover, Partition, Replica
from ..locks import FencedLock, LeaseLost, Redlock, SafeLock, TooManyExtensions, WatchdogLock
from ..stores import FencedRegister, Register
from ..story import Param, Story
from ._actors import TTL, impatient
from .redlock import FIVE

PATIENCE = 0.5


# -- the order of an end -----------------------------------------------------------------------------------------------


def pod(me: Any, p: SimpleNamespace) -> None:
    """A: one section of work under a watchdog's lock, in one thread; what happens on TERM, in another."""
    lock = me.lock(WatchdogLock(me.redis(), "stock", p.ttl, 1.0))
    sold = me.store(Register(me.redis("shop"), "sold"))
    lease = lock.acquire(0.0)
    told, drained = threading.Event(), threading.Event()
    threading.Thread(target=on_term, args=(me, p, lock, lease, told, drained)).start()
    count = sold.read()
    time.sleep(p.work)
    sold.write(count + 1)
    drained.set()
    if not told.is_set():
        give_back(me, lock, lease)


def on_term(
    me: Any, p: SimpleNamespace, lock: Any, lease: Any, told: threading.Event, drained: threading.Event
) -> None:
    """What the pod does when it is told to end, unless it has ended by then."""
    if drained.wait(p.term):
        return
    told.set()
    me.note("A is told to end (TERM)")
    if p.order == "unlock-first":
        give_back(me, lock, lease)
    elif p.order == "client-first":
        lock.watched(lease).stopped = True  # nobody renews any more; the work goes on
    else:
        drained.wait()
        give_back(me, lock, lease)


def give_back(me: Any, lock: Any, lease: Any) -> None:
    try:
        lock.release(lease)
    except (LeaseLost, RedisError) as error:
        me.note(f"{me.name} at its release: {type(error).__name__}")


def replacement(me: Any, p: SimpleNamespace) -> None:
    """B: the next pod, which wants to do the same."""
    time.sleep(0.5)
    lock = me.lock(WatchdogLock(me.redis(), "stock", p.ttl, 1.0))
    sold = me.store(Register(me.redis("shop"), "sold"))
    lease = lock.acquire(100.0)
    if lease is not None:
        count = sold.read()
        time.sleep(2.0)
        sold.write(count + 1)
        give_back(me, lock, lease)


ORDERS = ("unlock-first", "client-first", "drain-first")

pod_end = Story(
    name="pod-end",
    claim="A pod is told to end in the middle of its work. In which order does it stop, and who writes last?",
    params={
        "order": Param("unlock-first", choices=ORDERS, unit="", label="on TERM"),
        "ttl": TTL,
        "work": Param(20.0, 1.0, 60.0, 0.5, label="A's section takes"),
        "term": Param(5.0, 0.5, 60.0, 0.5, label="TERM at"),
        "grace": Param(30.0, 1.0, 60.0, 0.5, label="KILL after"),
    },
    actors={"A": pod, "B": replacement},
    faults=lambda p: [Crash("A", at=p.term + p.grace)],
    servers=("redis", "shop"),
    durable=("shop",),
    until=200.0,
)


# -- a pod that is cut off ---------------------------------------------------------------------------------------------


def one(me: Any, p: SimpleNamespace) -> Any:
    kind = FencedLock if p.scheme == "fenced" else SafeLock
    return kind(impatient(me, PATIENCE, FIVE[0]), "stock", p.ttl, poll=1.0)


def five(me: Any, p: SimpleNamespace) -> Any:
    return Redlock([impatient(me, PATIENCE, name) for name in FIVE], "stock", p.ttl, poll=1.0)


def adds(comes: float, seconds: Callable[[SimpleNamespace], float]) -> Callable[..., None]:
    """A client that adds one, renews its lock meanwhile as well as it can, and looks at nothing else."""

    def actor(me: Any, p: SimpleNamespace) -> None:
        time.sleep(comes)
        lock, shop = me.lock((five if p.scheme == "five" else one)(me, p)), me.redis("shop")
        sold = me.store((FencedRegister if p.scheme == "fenced" else Register)(shop, "sold"))
        lease = lock.acquire(60.0)
        if lease is None or (p.scheme == "fenced" and not sold.register(lease)):
            return
        count, end = sold.read(), time.monotonic() + seconds(p)
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(left, p.ttl / 3))
            with suppress(RedisError, LeaseLost, TooManyExtensions):
                lease = lock.extend(lease)
        sold.write(count + 1, lease) if p.scheme == "fenced" else sold.write(count + 1)
        give_back(me, lock, lease)

    return actor


cut_off_pod = Story(
    name="cut-off-pod",
    claim="A pod cannot reach the lock's servers for a while, but the store it can. Do five nodes help?",
    params={
        "scheme": Param("five", choices=("one", "five", "fenced"), unit="", label="lock and store"),
        "ttl": TTL,
        "cut": Param(40.0, 0.0, 60.0, 0.5, label="A is cut off for"),
        "work": Param(30.0, 0.0, 60.0, 0.5, label="A works for"),
    },
    actors={"A": adds(0.0, lambda p: p.work), "B": adds(1.0, lambda p: 2.0)},
    faults=lambda p: [Partition("A", name, at=2.0, lasting=p.cut) for name in FIVE] if p.cut else [],
    servers=(*FIVE, "shop"),
    durable=("shop",),
    until=300.0,
)


# -- a primary on the minority's side ----------------------------------------------------------------------------------


def works_on(me: Any, p: SimpleNamespace) -> None:
    """A: on the minority's side, with the old primary."""
    lost = threading.Event()

    def on_lost(reason: str) -> None:
        me.lost("stock", reason)
        lost.set()

    lock = me.lock(WatchdogLock(impatient(me, PATIENCE), "stock", p.ttl, 1.0, on_lost=on_lost))
    lease = lock.acquire(0.0)
    if lease is not None and not lost.wait(p.work):
        give_back(me, lock, lease)


def with_the_majority(me: Any, p: SimpleNamespace) -> None:
    time.sleep(1.0)
    lock = me.lock(SafeLock(impatient(me, PATIENCE), "stock", p.ttl, poll=1.0))
    end, lease = time.monotonic() + p.work, None
    while lease is None and time.monotonic() < end:
        with suppress(RedisError):
            lease = lock.acquire(5.0)
    if lease is not None:
        time.sleep(p.work / 2)
        give_back(me, lock, lease)


minority_master = Story(
    name="minority-master",
    claim="A and the old primary are on one side of a partition, everybody else on the other. What does A notice?",
    params={
        "needed": Param(0, 0, 1, 1, unit="", label="replicas that a primary needs to write"),
        "max_lag": Param(5.0, 1.0, 20.0, 0.5, label="heard of within"),
        "ttl": TTL,
        "work": Param(60.0, 0.0, 100.0, 1.0, label="A works for"),
    },
    actors={"A": works_on, "B": with_the_majority},
    faults=lambda p: [
        Replica("r1", lag=0.1, needed=p.needed, max_lag=p.max_lag),
        Replica("r2", lag=0.1),
        *[Partition("redis", name, at=2.0, lasting=200.0) for name in ("r1", "r2")],
        Failover(to="r1", at=2.0, takes=3.0, isolated=("A",), dies=False),
    ],
    until=300.0,
)
