"""Section five, Redlock: what befalls a lock on five nodes. A takes it, B wants it; the nodes are n1 to n5.

A has a majority that is as large as the nodes it reaches: all five, or, cut off from two, a bare three. How much that
difference is worth is the thread through these stories. What the same mishaps do to one server: see `topology`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from ..faults import ClockRate, ClockStep, Delay, DropReply, DropRequest, Partition, Restart
from ..locks import QUORUM_LOCKS, LeaseLost
from ..story import Param, Story
from ._actors import TTL

FIVE = ("n1", "n2", "n3", "n4", "n5")
HIT = ("n3", "n2", "n1", "n4", "n5")  # whom a mishap strikes first: a node that A has in any case
PATIENCE = 0.1  # seconds that a client waits for an answer, and for a connection; Redlock has its own limit
WORK = 5.0
STRIKES = 0.5  # when a mishap strikes a node: A has its lock, B has not asked yet


def quorum(default: str = "redlock") -> Param:
    return Param(default, choices=tuple(QUORUM_LOCKS), unit="", label="lock", classes=True)


def number(default: int, label: str, low: int = 0) -> Param:
    return Param(default, low, len(FIVE), 1, unit="", label=label)


REACHED = number(5, "nodes that A reaches", low=1)
WORKS = Param(WORK, 0.0, 30.0, 0.5, label="A works for")


def quorum_lock(me: Any, p: SimpleNamespace, patience: float | None = PATIENCE, **options: Any) -> Any:
    """A watched lock on the five nodes."""
    limits = {"socket_timeout": patience, "socket_connect_timeout": PATIENCE, "retry": Retry(NoBackoff(), 0)}
    kind = QUORUM_LOCKS[p.lock] if isinstance(p.lock, str) else p.lock
    return me.lock(kind([me.redis(name, **limits) for name in FIVE], "stock", p.ttl, poll=p.ttl / 10, **options))


def acquire(me: Any, lock: Any, wait: float) -> Any:
    """The lease; None if there is none to be had, for whatever reason."""
    try:
        return lock.acquire(wait)
    except RedisError as error:
        me.note(f"{me.name} gives up: {type(error).__name__}.")
        return None


def work(me: Any, lock: Any, lease: Any, seconds: float = WORK) -> None:
    """Works for a while, and gives the lock back."""
    if lease is not None:
        time.sleep(seconds)
        with suppress(LeaseLost, RedisError):
            lock.release(lease)
        time.sleep(PATIENCE)  # what is under way shall arrive


def first(me: Any, p: SimpleNamespace) -> None:
    """A: asks once, when what is cut off is cut off."""
    time.sleep(0.001)
    lock = quorum_lock(me, p)
    work(me, lock, acquire(me, lock, 0.0), getattr(p, "work", WORK))


def second(me: Any, p: SimpleNamespace) -> None:
    """B: comes after a second, and waits."""
    time.sleep(1.0)
    lock = quorum_lock(me, p)
    work(me, lock, acquire(me, lock, 2 * p.ttl), 2.0)


def out_of_reach(client: str, reached: int) -> list[Any]:
    return [Partition(client, name) for name in FIVE[reached:]]


five_nodes = Story(
    name="five-nodes",
    claim="Some of the five nodes die while A holds the lock. Can anybody still get it?",
    params={"lock": quorum(), "ttl": TTL, "down": number(2, "nodes that die")},
    actors={"A": first, "B": second},
    faults=lambda p: [Restart(name, STRIKES, down=600.0) for name in HIT[: p.down]],
    servers=FIVE,
)

node_forgets = Story(
    name="node-forgets",
    claim="Nodes restart without their data while A holds the lock. How many may forget before B has it too?",
    params={
        "lock": quorum(),
        "ttl": TTL,
        "reached": REACHED,
        "forget": number(1, "nodes that restart"),
        "data": Param("lost", choices=("lost", "kept"), unit="", label="their data are"),
        "down": Param(0.2, 0.0, 30.0, 0.1, label="down for"),
        "work": WORKS,
    },
    actors={"A": first, "B": second},
    faults=lambda p: [
        *out_of_reach("A", p.reached),
        *[Restart(name, STRIKES, p.data == "kept", p.down) for name in HIT[: p.forget]],
    ],
    servers=FIVE,
)

node_clock = Story(
    name="node-clock",
    claim="The wall clocks of some nodes jump while A holds the lock. Whose lease is valid?",
    params={
        "lock": quorum(),
        "ttl": TTL,
        "reached": REACHED,
        "jump": number(1, "nodes whose clock jumps"),
        "step": Param(15.0, -60.0, 60.0, 1.0, label="it jumps by"),
    },
    actors={"A": first, "B": second},
    faults=lambda p: [
        *out_of_reach("A", p.reached),
        *[ClockStep(name, p.step, STRIKES) for name in HIT[: p.jump]],
    ],
    servers=FIVE,
)


# -- an acquisition that takes long, or that does not hear from its nodes ----------------------------------------------


def patient(me: Any, p: SimpleNamespace) -> None:
    """A: its clients wait for an answer for as long as it takes."""
    lock = quorum_lock(me, p, patience=None)
    work(me, lock, acquire(me, lock, 0.0), p.work)


def latecomer(me: Any, p: SimpleNamespace) -> None:
    """B: asks once, when the story says so."""
    time.sleep(p.at)
    lock = quorum_lock(me, p)
    work(me, lock, acquire(me, lock, 0.0))


slow_node = Story(
    name="slow-node",
    claim="One request of A's acquisition takes longer than the lease lasts. What is A told, and by which clock?",
    params={
        "lock": quorum("redlock-seed"),
        "ttl": TTL,
        "node": Param("n4", choices=FIVE, unit="", label="the slow node"),
        "by": Param(12.0, 0.0, 30.0, 0.01, label="slow by"),
        "step": Param(-15.0, -60.0, 60.0, 1.0, label="A's wall clock jumps meanwhile by"),
        "rate": Param(1.0, 0.9, 1.1, 0.01, unit="", label="the nodes' clocks go"),
        "at": Param(10.5, 0.0, 30.0, 0.05, label="B comes at"),
        "work": WORKS,
    },
    actors={"A": patient, "B": latecomer},
    faults=lambda p: [
        Delay(on="SET", client="A", server=p.node, by=p.by),
        *([ClockStep("A", p.step, at=5.0)] if p.step else []),
        *([ClockRate(name, p.rate) for name in FIVE] if p.rate != 1.0 else []),
    ],
    servers=FIVE,
)

SILENT = ("n2", "n3", "n4", "n5", "n1")  # between two that answer, so that a loop that ends there leaves some out
SILENCE: dict[str, Callable[[str], Any]] = {  # A's request is never executed; is; is later; cannot be sent
    "lost": lambda name: DropRequest(on="SET", client="A", server=name),
    "done": lambda name: DropReply(on="SET", client="A", server=name),
    "late": lambda name: Delay(on="SET", client="A", server=name, by=0.7),
    "cut": lambda name: Partition("A", name),
}

silent_nodes = Story(
    name="silent-nodes",
    claim="Some nodes do not answer to A's request in time. Have they done what it asked for?",
    params={
        "lock": quorum(),
        "ttl": TTL,
        "silent": number(2, "nodes that keep silent"),
        "request": Param("lost", choices=tuple(SILENCE), unit="", label="its request is"),
    },
    actors={"A": first, "B": second},
    faults=lambda p: [SILENCE[p.request](name) for name in SILENT[: p.silent]],
    servers=FIVE,
)


# -- one value for two attempts ----------------------------------------------------------------------------------------


def tries_twice(me: Any, p: SimpleNamespace) -> None:
    """A: a first try that finds three nodes taken, and another one 50 ms after the start."""
    time.sleep(0.0035)
    lock = quorum_lock(me, p, budget=0.02)
    lease = acquire(me, lock, 0.0)
    if lease is None:
        time.sleep(max(0.0, 0.05 - me.world.now))
        lease = acquire(me, lock, 0.0)
    work(me, lock, lease)


def third(me: Any, p: SimpleNamespace) -> None:
    """B: comes when the unlock has landed."""
    time.sleep(0.01 + p.by)
    lock = quorum_lock(me, p)
    work(me, lock, acquire(me, lock, 2 * p.ttl), 1.0)


def leaves_old_keys(me: Any, p: SimpleNamespace) -> None:
    """C: held the lock once; on three nodes that runs out after 5 ms."""
    for name in FIVE[2:]:
        me.redis(name).set("stock", "C's", nx=True, px=5)


late_unlock = Story(
    name="late-unlock",
    claim="A's clean-up after a failed attempt is still under way when its next attempt succeeds. What does it delete?",
    params={"lock": quorum("one-value"), "ttl": TTL, "by": Param(0.2, 0.1, 4.0, 0.05, label="the unlock is late by")},
    actors={"A": tries_twice, "B": third, "C": leaves_old_keys},
    faults=lambda p: [
        *[Delay(on=word, client="A", server="n3", by=p.by) for word in ("EVAL", "EVALSHA")],
        *[Partition("A", name, at=0.04) for name in FIVE[3:]],
    ],
    servers=FIVE,
)
