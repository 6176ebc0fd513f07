"""What a lock in etcd still leaves to be done: to look for one's own key after waiting, and to let the write's own
transaction ask whose the lock is. The server forgets nothing, no clock is wrong; a client stands still, that is all."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

from ..faults import Pause
from ..locks.broken.etcd_unchecked import UncheckedEtcdLock
from ..locks.etcd import EtcdLock
from ..locks.etcdclient import EtcdClient, put
from ..locks.lease import Lease, LeaseLost
from ..story import Param, Story
from ._actors import TTL

KINDS = {"etcd": EtcdLock, "etcd-unchecked": UncheckedEtcdLock}


class EtcdNumber:
    """A number in etcd, next to the lock that protects it. lock: whose grant each write is compared with, in the
    transaction that writes; None: every write is taken."""

    name = "sold"

    def __init__(self, client: EtcdClient, lock: EtcdLock | None) -> None:
        self.client, self.lock = client, lock

    def read(self) -> int:
        found = self.client.range(self.name)
        return int(found[0].value) if found else 0

    def write(self, value: int, lease: Lease) -> bool:
        """False: the lease is not the holder's any more, and nothing has changed. No one has to register first: while
        our key is there nobody else has held, so nobody else has written since we read."""
        ours = [self.lock.compare(lease)] if self.lock is not None else []
        return self.client.txn(ours, [put(self.name, str(value))]).succeeded


def holding(late: float, work: float) -> Callable[[Any, SimpleNamespace], None]:
    """A client that queues up after `late` seconds and holds the lock for `work` seconds."""

    def actor(me: Any, p: SimpleNamespace) -> None:
        time.sleep(late)
        lock = me.lock(KINDS[p.lock](EtcdClient(*me.etcd()), "stock", p.ttl))
        try:
            with lock.hold(60.0):
                time.sleep(work)
        except LeaseLost as lost:
            me.note(f"{me.name} is told: {lost.reason}.")

    return actor


def selling(late: float) -> Callable[[Any, SimpleNamespace], None]:
    """A client that sells one: reads how many are sold, thinks for two seconds, writes one more."""

    def actor(me: Any, p: SimpleNamespace) -> None:
        time.sleep(late)
        client = EtcdClient(*me.etcd())
        lock = me.lock(EtcdLock(client, "stock", p.ttl))
        sold = me.store(EtcdNumber(client, lock if p.write == "compared" else None))
        with suppress(LeaseLost), lock.hold(60.0) as lease:
            value = sold.read()
            time.sleep(2.0)
            if not sold.write(value + 1, lease):
                me.note(f"{me.name} is refused: its key is not there any more.")

    return actor


own_key = Story(
    name="own-key",
    claim="B stands still in the queue until its own key is gone, then hears that A has left. Does B hold the lock?",
    params={
        "lock": Param("etcd", choices=tuple(KINDS), unit="", label="lock"),
        "ttl": TTL,
        "pause": Param(12.0, 0.0, 60.0, 0.5, label="B pauses for"),
    },
    actors={"A": holding(0.0, 6.0), "B": holding(0.5, 3.0), "C": holding(7.0, 6.0)},
    faults=lambda p: [Pause("B", lasting=p.pause, at=1.0)],
    servers=(),
)

own_transaction = Story(
    name="own-transaction",
    claim="A stands still over the end of its lease, then writes. Who can still stop it, if the number is in etcd too?",
    params={
        "write": Param("compared", choices=("compared", "blind"), unit="", label="a write is"),
        "ttl": TTL,
        "pause": Param(15.0, 0.0, 60.0, 0.5, label="A pauses for"),
    },
    actors={"A": selling(0.0), "B": selling(0.5)},
    faults=lambda p: [Pause("A", lasting=p.pause, at=1.0)],
    servers=(),
)
