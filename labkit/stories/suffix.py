"""A queue of ZooKeeper's whose parent is made anew: the number in a node's name starts again, the czxid does not."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

from kazoo.exceptions import ConnectionLoss

from ..faults import Pause
from ..locks import LeaseLost
from ..locks.broken.suffix_as_token import SuffixTokenLock
from ..locks.zookeeper import ZooKeeperLock
from ..stores import FencedRegister
from ..story import Param, Story
from ._actors import TTL

TOKENS = {"czxid": ZooKeeperLock, "suffix": SuffixTokenLock}


def worker(me: Any, p: SimpleNamespace) -> Callable[[float], None]:
    """A client's turn: takes the lock, registers and reads, thinks, writes, and gives the lock back."""
    lock = me.lock(TOKENS[p.token](me.zookeeper("zk", timeout=p.ttl), "/stock"), ttl=p.ttl)
    store = me.store(FencedRegister(me.redis("shop"), "sold"))

    def turn(think: float) -> None:
        lease = lock.acquire(30.0)
        if store.register(lease):
            value = store.read()
            time.sleep(think)
            store.write(value + 1, lease)
        with suppress(LeaseLost, ConnectionLoss):
            lock.release(lease)

    return turn


def first(me: Any, p: SimpleNamespace) -> None:
    """Three turns; with each the number in the name grows. A stands still in the last one."""
    turn = worker(me, p)
    for think in (0.1, 0.1, 1.0):
        turn(think)


def second(me: Any, p: SimpleNamespace) -> None:
    """Comes when the first one's session is over. The queue is empty, and an operator, or the reaper of empty
    containers, deletes its parent."""
    time.sleep(p.pause - 1.0)
    zk = me.zookeeper("zk", timeout=p.ttl)
    if not zk.get_children("/stock"):
        zk.delete("/stock")
        me.note("The queue is empty: its parent is deleted. The next one to come makes it anew.")
    worker(me, p)(3.0)


suffix = Story(
    name="suffix",
    claim="The parent of the queue is deleted while nobody waits, and made anew. Whose token is higher: the zombie's?",
    params={
        "token": Param("czxid", choices=tuple(TOKENS), unit="", label="what serves as token"),
        "ttl": TTL,
        "pause": Param(14.0, 12.0, 40.0, 0.5, label="A stands still for"),
    },
    actors={"A": first, "B": second},
    faults=lambda p: [Pause("A", lasting=p.pause, at=0.6)],
    servers=("shop",),
)
