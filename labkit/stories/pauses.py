"""What a lease cannot do: a holder that stands still does not know that its time is over, and neither a lock nor a
server can call it back. Also: what happens when the server forgets, or its clock jumps."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

from redis.exceptions import RedisError

from ..faults import ClockStep, Evict, Partition, Pause, Restart
from ..locks import LeaseLost
from ..stores import Register
from ..story import Param, Story
from ._actors import LOCK, TTL, lock_of


def sell_one(me: Any, p: SimpleNamespace) -> None:
    """One sale, and what becomes of it if the lock is lost or the server cannot be reached."""
    redis = me.redis()
    lock, sold = lock_of(me, p, client=redis), me.store(Register(redis, "sold"))
    try:
        with_lock(lock, sold)
    except LeaseLost as lost:
        me.note(f"{me.name} learns it at its release: {lost.reason}.")
    except RedisError as error:
        me.note(f"{me.name} gives up: {type(error).__name__}.")


def with_lock(lock: Any, sold: Register) -> None:
    """Under the lock: read how many are sold, think for two seconds, write one more."""
    lease = lock.acquire(60.0)
    if lease is None:
        return
    count = sold.read()
    time.sleep(2.0)
    sold.write(count + 1)
    lock.release(lease)


def later(me: Any, p: SimpleNamespace) -> None:
    time.sleep(0.5)
    sell_one(me, p)


gc_pause = Story(
    name="gc-pause",
    claim="A stands still in the middle of its work. How many clients think that they hold the lock?",
    params={
        "lock": LOCK,
        "ttl": TTL,
        "pause": Param(35.0, 0.0, 60.0, 0.5, label="A pauses for"),
        "at": Param(1.0, 0.0, 10.0, 0.1, label="from"),
    },
    actors={"A": sell_one, "B": later},
    faults=lambda p: [Pause("A", lasting=p.pause, at=p.at)],
)

clock_step = Story(
    name="clock-step",
    claim="The server's wall clock jumps while A holds the lock. Whose lease is valid?",
    params={"lock": LOCK, "ttl": TTL, "step": Param(15.0, -60.0, 60.0, 1.0, label="clock jumps by")},
    actors={"A": sell_one, "B": later},
    faults=lambda p: [ClockStep("redis", by=p.step, at=1.0)],
)

server_restart = Story(
    name="server-restart",
    claim="The server restarts while A holds the lock. Does it remember?",
    params={
        "lock": LOCK,
        "ttl": TTL,
        "data": Param("lost", choices=("lost", "kept"), unit="", label="its data is"),
        "down": Param(0.2, 0.0, 20.0, 0.1, label="down for"),
    },
    actors={"A": sell_one, "B": later},
    faults=lambda p: [Restart("redis", at=1.0, keep_data=p.data == "kept", down=p.down)],
)

partition = Story(
    name="partition",
    claim="A is cut off from the lock server while it works. What can A know?",
    params={"lock": LOCK, "ttl": TTL, "cut": Param(20.0, 0.5, 60.0, 0.5, label="cut for")},
    actors={"A": sell_one, "B": later},
    faults=lambda p: [Partition("A", "redis", at=1.0, lasting=p.cut)],
)

evicted = Story(
    name="evicted",
    claim="The server runs out of memory and throws the lock's key away. Does anybody notice?",
    params={"lock": LOCK, "ttl": TTL, "at": Param(1.0, 0.0, 10.0, 0.1, label="evicted at")},
    actors={"A": sell_one, "B": later},
    faults=lambda p: [Evict("stock", at=p.at)],
)
