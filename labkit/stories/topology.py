"""Section five, beside Redlock: what a replica does for a lock; one mishap on four set-ups of servers; and a holder
that stands still, against which none of them helps."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from ..faults import ClockStep, Evict, Failover, Partition, Pause, Replica, Restart
from ..locks import LeaseLost, Redlock, SafeLock
from ..stores import Register
from ..story import Param, Story
from ._actors import LOCK, TTL, lock_of
from .redlock import FIVE, acquire, quorum, quorum_lock, work

STRIKES = 0.2  # when a mishap strikes: A has its lock, and a lagging replica has not heard of it
LIMITS: dict[str, Any] = {"socket_timeout": 0.5, "socket_connect_timeout": 0.5, "retry": Retry(NoBackoff(), 0)}


def holding(me: Any, lock: Any, at: float, wait: float, seconds: float) -> None:
    """Acquire, work, release. Errors of the client library end it."""
    time.sleep(at)
    with suppress(LeaseLost, RedisError):
        lease = lock.acquire(wait)
        if lease is not None:
            time.sleep(seconds)
            lock.release(lease)


def on_primary(at: float, seconds: float) -> Any:
    def actor(me: Any, p: SimpleNamespace) -> None:
        holding(me, lock_of(me, p, client=me.redis(**LIMITS)), at, 2 * p.ttl, seconds)

    return actor


failover = Story(
    name="failover",
    claim="The primary has acknowledged A's lock, and dies. Does the replica that takes its place know of it?",
    params={
        "lock": LOCK,
        "ttl": TTL,
        "lag": Param(1.0, 0.0, 5.0, 0.01, label="r1 lags by"),
        "to": Param("r1", choices=("r1", "r2"), unit="", label="promoted is"),
        "at": Param(0.05, 0.0, 5.0, 0.01, label="the primary dies at"),
    },
    actors={"A": on_primary(0.0, 5.0), "B": on_primary(1.0, 2.0)},
    faults=lambda p: [Replica("r1", lag=p.lag), Replica("r2", lag=5.0), Failover(to=p.to, at=p.at, takes=0.5)],
)


# -- one mishap, four set-ups ------------------------------------------------------------------------------------------

SETUPS = {"one": 1, "pair": 1, "five": 5, "bare": 5}  # how many nodes the lock is on


def one_of(p: SimpleNamespace, me: Any) -> Any:
    """A lock on one server or on five nodes."""
    clients = [me.redis(name, **LIMITS) for name in FIVE[: SETUPS[p.on]]]
    if len(clients) == 1:
        return me.lock(SafeLock(clients[0], "stock", p.ttl, poll=p.ttl / 10))
    return me.lock(Redlock(clients, "stock", p.ttl, poll=p.ttl / 10))


def asking(at: float, seconds: float) -> Any:
    return lambda me, p: holding(me, one_of(p, me), at, 2 * p.ttl, seconds)


def dying(p: SimpleNamespace, nodes: tuple[str, ...]) -> list[Any]:
    """Of a pair the replica takes over; else nobody does, and the machines stay away."""
    if p.on == "pair":
        return [Failover("n1", "r1", at=STRIKES, takes=0.5)]
    return [Restart(name, STRIKES, down=600.0) for name in nodes]


Strike = Callable[[SimpleNamespace, tuple[str, ...]], list[Any]]  # (params, all nodes that the lock is on) -> faults
MISHAPS: dict[str, Strike] = {
    "dies": lambda p, nodes: dying(p, nodes[:1]),
    "three-die": lambda p, nodes: dying(p, nodes[:3]),
    "forgets": lambda p, nodes: [Restart(name, STRIKES, down=0.2) for name in nodes[:1]],
    "three-forget": lambda p, nodes: [Restart(name, STRIKES, down=0.2) for name in nodes[:3]],
    "evicts": lambda p, nodes: [Evict("stock", server=nodes[0], at=STRIKES)],
    "clock-jumps": lambda p, nodes: [ClockStep(nodes[0], 1.5 * p.ttl, STRIKES)],
    "all-clocks-jump": lambda p, nodes: [ClockStep(name, 1.5 * p.ttl, STRIKES) for name in nodes],
    "holder-pauses": lambda p, nodes: [Pause("A", lasting=1.5 * p.ttl, at=STRIKES)],
}


def strikes(p: SimpleNamespace) -> list[Any]:
    setup: list[Any] = [Replica("r1", "n1", lag=1.0)] if p.on == "pair" else []
    if p.on == "bare":
        setup = [Partition("A", name) for name in FIVE[3:]]
    return [*setup, *MISHAPS[p.mishap](p, FIVE[: SETUPS[p.on]])]


topology = Story(
    name="topology",
    claim="One mishap strikes one server, a server with a replica, or five nodes. Does the lock survive it?",
    params={
        "ttl": TTL,
        "on": Param("five", choices=tuple(SETUPS), unit="", label="the lock is on"),
        "mishap": Param("forgets", choices=tuple(MISHAPS), unit="", label="the mishap"),
    },
    actors={"A": asking(0.0, 5.0), "B": asking(1.0, 2.0)},
    faults=strikes,
    servers=("n1",),
)


# -- a holder that stands still ----------------------------------------------------------------------------------------


def sell_one(me: Any, p: SimpleNamespace, wait: float = 0.0) -> None:
    """Under the lock: read how many are sold, think for two seconds, write one more."""
    lock, sold = quorum_lock(me, p), me.store(Register(me.redis("shop"), "sold"))
    lease = acquire(me, lock, wait)
    if lease is not None:
        count = sold.read()
        time.sleep(2.0)
        sold.write(count + 1)
        work(me, lock, lease, 0.0)


def sells_after_a_ttl(me: Any, p: SimpleNamespace) -> None:
    """B: comes when A's lease has run out."""
    time.sleep(p.ttl + 0.5)
    sell_one(me, p, 2 * p.ttl)


quorum_pause = Story(
    name="quorum-pause",
    claim="A stands still, while it acquires the lock or afterwards. Which of the two do five nodes help against?",
    params={
        "lock": quorum(),
        "ttl": TTL,
        "pause": Param(15.0, 0.0, 60.0, 0.5, label="A pauses for"),
        "at": Param(1000.0, 0.1, 5000.0, 0.1, unit="ms", label="from"),
    },
    actors={"A": sell_one, "B": sells_after_a_ttl},
    faults=lambda p: [Pause("A", lasting=p.pause, at=p.at / 1000)],
    servers=(*FIVE, "shop"),
    durable=("shop",),
)
