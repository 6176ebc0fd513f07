"""Section four, where tokens come from: a number that is drawn too late, from a counter that holds none, that has been
given before, or that is lower than an older one. What a store makes of them: see `fencing`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

from redis.exceptions import ResponseError

from ..faults import Failover, Replica, Restart
from ..locks import LeaseLost, Misuse
from ..locks.fenced import counter
from ..story import Param, Story
from ._actors import LOCK, TTL, lock_of
from .fencing import COMES, CONTRACT, FENCED, PAUSE, Pace, add_one, adding, at_once, leave, when_it_comes

# -- drawn too late ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OnceGranted:
    """Pauses `client` before the first command that it sends once the lock is taken. It has to be the first to ask."""

    client: str
    lasting: float

    def arm(self, world: Any) -> None:
        struck: list[bool] = []

        def strike(packet: Any) -> None:
            taken = "stock" in set(world.server_called("redis").keys())
            if packet.client == self.client and taken and not struck:
                struck.append(True)
                world.pause(self.client, self.lasting)

        world.trigger(strike)


late_token = Story(
    name="late-token",
    claim="A stands still just after its grant, before anything else. Whom does the store take for newer?",
    params={"store": CONTRACT, "lock": FENCED, "ttl": TTL, "pause": PAUSE, "comes": COMES},
    actors={"A": adding(Pace(0.0, 0.5), at_once), "B": adding(Pace(0.0, 3.0), when_it_comes)},
    faults=lambda p: [OnceGranted("A", lasting=p.pause)],
    servers=("redis", "shop"),
    durable=("shop",),
    until=300.0,
)


# -- none to be had ----------------------------------------------------------------------------------------------------


def set_counters(me: Any, lock: Any, to: object) -> None:
    """Sets the counter of a lock called so, where ours has it and where the article's has it."""
    me.redis().mset(dict.fromkeys((counter(lock.name), f"{lock.name}:token"), to))


def unlucky(me: Any, p: SimpleNamespace) -> None:
    """A: finds a counter that holds no number, is told of an error, and leaves."""
    lock = lock_of(me, p)
    set_counters(me, lock, "apples")
    try:
        lease = lock.acquire(0.0)
    except (ResponseError, Misuse) as error:
        me.note(f"A is told: {type(error).__name__}")
        return
    with suppress(LeaseLost):
        lock.release(lease)


def repairs(me: Any, p: SimpleNamespace) -> None:
    """B: sets the counter right, wants the lock, and keeps it for a second."""
    time.sleep(p.repaired)
    lock = lock_of(me, p)
    set_counters(me, lock, 41)
    me.note("B repairs the counter")
    lease = lock.acquire(60.0)
    time.sleep(1.0)
    leave(me, lock, lease)


junk_counter = Story(
    name="junk-counter",
    claim="The counter of tokens holds no number, and A is told of an error. Is the lock free afterwards?",
    params={
        "lock": replace(LOCK, default="fenced-seed"),
        "ttl": TTL,
        "repaired": Param(3.0, 0.0, 60.0, 0.5, label="B repairs it at"),
    },
    actors={"A": unlucky, "B": repairs},
    until=150.0,
)


# -- given before, or lower --------------------------------------------------------------------------------------------

KNOWN = 6  # grants that both sides have seen
TRIES = 5  # how often B comes with a new token


def ahead(starts: float, known: int) -> Callable[[Any, SimpleNamespace], None]:
    """A: takes and returns the lock some times, then takes it and adds one slowly. known: what the counter shows."""

    def actor(me: Any, p: SimpleNamespace) -> None:
        lock = lock_of(me, p)
        if known:
            set_counters(me, lock, known)
        time.sleep(starts)
        for _ in range(p.ahead):
            lock.release(lock.acquire(60.0))
        lease = lock.acquire(60.0)
        add_one(me, p, lease, Pace(0.0, 5.0))
        leave(me, lock, lease)

    return actor


def newcomer(me: Any, p: SimpleNamespace) -> None:
    """B: adds one quickly; where it is refused it comes again, with the next token."""
    time.sleep(3.0)
    lock = lock_of(me, p)
    for _ in range(TRIES):
        lease = lock.acquire(60.0)
        done = add_one(me, p, lease, Pace(0.0, 1.0))
        leave(me, lock, lease)
        if done:
            return
        time.sleep(0.5)


def forgetful(label: str, default: int) -> dict[str, Param]:
    return {"store": CONTRACT, "lock": FENCED, "ttl": TTL, "ahead": Param(default, 0, 3, 1, unit="", label=label)}


repeated_token = Story(
    name="repeated-token",
    claim="A replica takes over that knows six grants; A goes on with the old primary. Which numbers do A and B get?",
    params=forgetful("grants on the old primary before A's", 0),
    actors={"A": ahead(2.0, KNOWN), "B": newcomer},
    faults=lambda p: [Replica("r1", "redis", lag=0.1), Failover("redis", "r1", at=1.0, isolated=("A",), dies=False)],
    servers=("redis", "shop"),
    durable=("shop",),
    until=300.0,
)

lost_counter = Story(
    name="lost-counter",
    claim="The lock's server restarts empty while A works, and counts from one again. Can a new holder write?",
    params=forgetful("grants before A's", 1),
    actors={"A": ahead(0.0, 0), "B": newcomer},
    faults=lambda p: [Restart("redis", at=1.0, keep_data=False)],
    servers=("redis", "shop"),
    durable=("shop",),
    until=300.0,
)
