"""What a lease cannot do: a holder that stands still does not know that its time is over, and neither a lock nor a
server can call it back. Also: what happens when the server forgets, or its clock jumps."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

from ..faults import ClockStep, Partition, Pause, Restart
from ..locks import LeaseLost
from ..stores import Register
from ..story import Param, Story
from ._actors import LOCK, TTL, lock_of


def sell_one(me: Any, p: SimpleNamespace, wait: float = 60.0) -> None:
    """Under the lock: read the stock, think for two seconds, write one less."""
    lock = lock_of(me, p)
    stock = me.store(Register(me.redis(), "items"))
    lease = lock.acquire(wait)
    if lease is None:
        return
    left = stock.read()
    time.sleep(2.0)
    stock.write(left - 1)
    try:
        lock.release(lease)
    except LeaseLost as lost:
        me.note(f"{me.name} learns at its release: {lost}")


def later(me: Any, p: SimpleNamespace) -> None:
    time.sleep(0.5)
    sell_one(me, p)


def clerk(me: Any, p: SimpleNamespace) -> None:
    """Puts ten items on the shelf before anybody comes."""
    me.redis().set("items", 10)


def after_clerk(me: Any, p: SimpleNamespace) -> None:
    time.sleep(0.1)
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
    actors={"clerk": clerk, "A": after_clerk, "B": later},
    faults=lambda p: [Pause("A", lasting=p.pause, at=p.at)],
)

clock_step = Story(
    name="clock-step",
    claim="The server's wall clock jumps while A holds the lock. Whose lease is valid?",
    params={"lock": LOCK, "ttl": TTL, "step": Param(15.0, -60.0, 60.0, 1.0, label="clock jumps by")},
    actors={"clerk": clerk, "A": after_clerk, "B": later},
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
    actors={"clerk": clerk, "A": after_clerk, "B": later},
    faults=lambda p: [Restart("redis", at=1.0, keep_data=p.data == "kept", down=p.down)],
)

partition = Story(
    name="partition",
    claim="A is cut off from the lock server while it works. What can A know?",
    params={"lock": LOCK, "ttl": TTL, "cut": Param(20.0, 0.5, 60.0, 0.5, label="cut for")},
    actors={"clerk": clerk, "A": after_clerk, "B": later},
    faults=lambda p: [Partition("A", "redis", at=1.0, lasting=p.cut)],
)
