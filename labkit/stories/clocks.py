"""Clocks and copies that the article trusts: a client's wall clock, set back while the client stands still; a machine's
clock that stands still with it; a look at the clock, and a write that is slow after it; and a replica whose clock is
ahead.

What else befalls Redlock, the clocks of its nodes among it: see `redlock` and `topology`.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

from redis.exceptions import RedisError

from ..faults import ClockStep, Failover, Pause, Replica, Suspend
from ..locks import LeaseLost
from ..sim import Fate, Packet, World
from ..story import Param, Story
from ._actors import LOCK, TTL, lock_of
from .fencing import late_write
from .redlock import FIVE, acquire, quorum, quorum_lock, work

# -- a client whose clock is set back while it stands still -----------------------------------------------------------


@dataclass(frozen=True)
class StandsStill:
    """`client` stands still for `lasting` seconds as soon as it has asked `server` for the lock: the request leaves,
    and the answer waits."""

    client: str
    server: str
    lasting: float

    def arm(self, world: World) -> None:
        def strike(packet: Packet) -> None:
            if (packet.client, packet.server, packet.name, packet.nth) == (self.client, self.server, "SET", 1):
                world.at(world.now, lambda: world.pause(self.client, self.lasting))

        world.trigger(strike)


def latecomer(me: Any, p: SimpleNamespace) -> None:
    """B: asks once, when A's keys have run out and A has not gone on yet."""
    time.sleep(p.at)
    lock = quorum_lock(me, p)
    work(me, lock, acquire(me, lock, 0.0))


def sure_of_its_network(me: Any, p: SimpleNamespace) -> None:
    """A: its clients wait for an answer for as long as it takes."""
    time.sleep(0.001)
    lock = quorum_lock(me, p, patience=None)
    work(me, lock, acquire(me, lock, 0.0))


set_back = Story(
    name="set-back",
    claim="A stands still in the middle of its acquisition, and its wall clock is set back. What does it make of it?",
    params={
        "lock": quorum("redlock-seed"),
        "ttl": TTL,
        "node": Param("n5", choices=FIVE, unit="", label="A stands still when it has asked"),
        "pause": Param(12.0, 0.0, 60.0, 0.5, label="A stands still for"),
        "step": Param(-15.0, -60.0, 60.0, 1.0, label="A's wall clock jumps meanwhile by"),
        "at": Param(10.5, 0.0, 60.0, 0.5, label="B comes at"),
    },
    actors={"A": sure_of_its_network, "B": latecomer},
    faults=lambda p: [StandsStill("A", p.node, p.pause), *([ClockStep("A", p.step, at=5.0)] if p.step else [])],
    servers=FIVE,
)


# -- a holder that looks at its clock before it writes -----------------------------------------------------------------

LOOK = replace(late_write.params["look"], default="yes")
CLOCKS = {"CLOCK_MONOTONIC": Suspend, "CLOCK_BOOTTIME": Pause}  # of Linux: the second goes on while a machine sleeps

suspended_holder = late_write.but(
    name="suspended-holder",
    claim="A's machine is suspended, and A looks at its clock before it writes. Does the clock say that time went on?",
    params={
        **late_write.params,
        "clock": Param("CLOCK_MONOTONIC", choices=tuple(CLOCKS), unit="", label="A measures by"),
        "look": LOOK,
    },
    faults=lambda p: [CLOCKS[p.clock]("A", at=2.0, lasting=p.pause)] if p.pause else [],
)


@dataclass(frozen=True)
class SlowWrite:
    """What `client` writes takes `by` seconds longer to its store, whatever that checks."""

    client: str
    by: float

    def arm(self, world: World) -> None:
        def late(packet: Packet) -> Fate | None:
            asked = packet.direction == "request" and packet.client == self.client
            return Fate(after=self.by) if asked and packet.text.startswith(("SET sold", "EVAL write")) else None

        world.rule(late)


slow_write = late_write.but(
    name="slow-write",
    claim="A looks at its clock, has time left, and writes; the write is slow. What does looking at the clock prove?",
    params={
        **late_write.params,
        "pause": Param(6.0, 0.0, 60.0, 0.5, label="A stands still before it looks, for"),
        "by": Param(4.0, 0.0, 4.5, 0.1, label="A's write is slow by"),
        "look": LOOK,
    },
    faults=lambda p: [SlowWrite("A", p.by), *([Pause("A", lasting=p.pause, at=2.0)] if p.pause else [])],
)


# -- a replica whose clock goes ahead ----------------------------------------------------------------------------------


def replicated_first(me: Any, p: SimpleNamespace) -> None:
    """A: takes the lock, and waits until its replica has it."""
    redis = me.redis()
    lock = lock_of(me, p, client=redis)
    lease = lock.acquire(0.0)
    me.note(f"WAIT says that {redis.wait(1, 1000)} of 1 replicas has it")
    give_back_after(5.0, lock, lease)


def after_the_failover(me: Any, p: SimpleNamespace) -> None:
    """B: asks when the replica has taken over."""
    time.sleep(1.0)
    lock = lock_of(me, p)
    give_back_after(2.0, lock, lock.acquire(2 * p.ttl))


def give_back_after(seconds: float, lock: Any, lease: Any) -> None:
    with suppress(LeaseLost, RedisError):
        time.sleep(seconds)
        if lease is not None:
            lock.release(lease)


skewed_replica = Story(
    name="skewed-replica",
    claim="A's lock has reached the replica that takes over, whose clock is ahead. What is the lock worth there?",
    params={
        "lock": LOCK,
        "ttl": TTL,
        "ahead": Param(15.0, -60.0, 60.0, 1.0, label="the replica's clock is ahead by"),
    },
    actors={"A": replicated_first, "B": after_the_failover},
    faults=lambda p: [
        Replica("r1", lag=0.01),
        *([ClockStep("r1", p.ahead)] if p.ahead else []),
        Failover(at=0.5, takes=0.1),
    ],
)
