"""Read, add one, write: two clients under a lock, in the plainest form that can lose an update. It has no mishap of its
own; a search places them. The lock's servers may fail, the store's (`shop`) does not.

A row of ROWS is a lock with the store that goes with it, as the course's safety matrix names them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from redis.exceptions import RedisError

from ..faults import Replica
from ..locks import (
    FencedLock,
    OptimisticLock,
    PlainDelLock,
    Redlock,
    ReentrantLock,
    SafeLock,
    TwoStepLock,
    WatchdogLock,
)
from ..locks.broken.fenced_seed import SeedFencedLock
from ..locks.etcd import EtcdLock
from ..locks.etcdclient import EtcdClient
from ..locks.zookeeper import ZooKeeperLock
from ..sim import World
from ..stores import FencedRegister, Gateway, Register
from ..stores.broken.strict import StrictRegister
from ..story import Param, Story
from ._actors import TTL, impatient
from ._database import RemoteDatabase, serve
from .others import FIVE, pottery, python_redis_lock, redis_py, redlock_py

PATIENCE = 0.4  # seconds that a client waits for an answer, and for a connection


@dataclass(frozen=True)
class Row:
    """says: the row in words.  lock: (clients of its servers, name, ttl) -> lock.  store: (client of the shop, lock) ->
    store.  fenced: whether the store takes a lease with each write.  servers: of the lock.  client: (me, a server of
    its, ttl) -> a client.  ensemble: several machines that the story plays as one, with what a quorum has on disk."""

    says: str
    lock: Callable[[list[Any], str, float], Any]
    store: Callable[[Any, Any], Any] = lambda shop, lock: Register(shop, "sold")
    fenced: bool = False
    servers: tuple[str, ...] = ("redis",)
    client: Callable[[Any, str, float], Any] = lambda me, server, ttl: client_of(me, server)
    ensemble: bool = False


def on_one(kind: Any, /, **more: Any) -> Callable[[list[Any], str, float], Any]:
    return lambda clients, name, ttl: kind(clients[0], name, ttl, poll=ttl / 3, **more)


def on_database(clients: list[Any], name: str, ttl: float) -> Any:
    return OptimisticLock(RemoteDatabase(clients[0]), name, ttl, poll=ttl / 3)


def registered(shop: Any, lock: Any) -> FencedRegister:
    """A store that keeps to the contract: it is told of a holder before the holder reads."""
    return FencedRegister(shop, "sold")


def on_zookeeper(says: str, **more: Any) -> Row:
    """The session lasts for a TTL."""
    return Row(
        says,
        lambda clients, name, ttl: ZooKeeperLock(clients[0], f"/{name}"),
        servers=("zk",),
        client=lambda me, server, ttl: me.zookeeper(server, ttl),
        ensemble=True,
        **more,
    )


def on_etcd(says: str, **more: Any) -> Row:
    return Row(
        says,
        lambda clients, name, ttl: EtcdLock(clients[0], name, ttl),
        servers=("etcd",),
        client=lambda me, server, ttl: EtcdClient(*me.etcd(server, PATIENCE)),
        ensemble=True,
        **more,
    )


class TwoStepPlainDelLock(PlainDelLock, TwoStepLock):
    """SETNX, then EXPIRE, and in the end DEL: the first lock that everybody writes."""


ROWS = {
    "R1": Row("SETNX, then EXPIRE; DEL", on_one(TwoStepPlainDelLock)),
    "R2": Row("SET NX PX; DEL", on_one(PlainDelLock)),
    "R3": Row("SET NX PX; compare and delete", on_one(SafeLock)),
    "R4": Row("R3 with a watchdog", on_one(WatchdogLock)),
    "R5": Row("re-entrant hash with a watchdog", on_one(WatchdogLock, kind=ReentrantLock)),
    "R6a": Row("the article's fencing", on_one(SeedFencedLock), lambda shop, _: StrictRegister(shop, "sold"), True),
    "R6b": Row("fencing by the contract", on_one(FencedLock), registered, True),
    "R7": Row("Redlock, five nodes", lambda c, name, ttl: Redlock(c, name, ttl, poll=ttl / 20), servers=FIVE),
    "R8": on_zookeeper("ZooKeeper"),
    "R8-czxid": on_zookeeper("ZooKeeper, the czxid registered", store=registered, fenced=True),
    "R9": on_etcd("etcd"),
    "R9-revision": on_etcd("etcd, the revision registered", store=registered, fenced=True),
    "R10": Row("optimistic, in a database", on_database, lambda _, lock: lock, True, servers=("db",)),
}


OTHERS = {  # other people's, unmodified
    "redis-py": Row("redis-py's Lock", redis_py),
    "python-redis-lock": Row("python-redis-lock, auto_renewal", python_redis_lock),
    "pottery": Row("pottery's Redlock", pottery, servers=FIVE),
    "redlock-py": Row("redlock-py", redlock_py, servers=FIVE),
}
ALL = ROWS | OTHERS


def client_of(me: Any, server: str) -> Any:
    return impatient(me, PATIENCE, server)


def adding(late: float) -> Callable[[Any, SimpleNamespace], None]:
    """A client that adds one to what is sold, `late` seconds after the start."""

    def actor(me: Any, p: SimpleNamespace) -> None:
        time.sleep(late)
        row = ALL[p.row]
        if "db" in row.servers:
            serve(me, "db")
        lock = me.lock(row.lock([row.client(me, server, p.ttl) for server in row.servers], "stock", p.ttl), ttl=p.ttl)
        if row.ensemble and hasattr(lock, "on_lost"):
            lock.on_lost = lambda why: me.lost(lock.name, why)
        store = me.store(row.store(client_of(me, "shop"), lock), "sold")
        lease = acquire(lock, p.ttl)
        if lease is None:
            return
        with suppress(RedisError):
            if p.effect == "count":
                add_one(store, lease, row.fenced, p.work, lambda: not p.looks or holds(lock, lease))
            else:
                charge(me, store, lease, row.fenced)
        with suppress(Exception):  # each library has errors of its own for a lock that is not ours any more
            lock.release(lease)
        time.sleep(2 * p.ttl)  # what is still on its way shall arrive

    return actor


def acquire(lock: Any, ttl: float) -> Any:
    """Asks until it has the lock; an error is no reason to give up."""
    end = time.monotonic() + 6 * ttl
    while time.monotonic() < end:
        try:
            lease = lock.acquire(end - time.monotonic())
            if lease is not None:
                return lease
            time.sleep(PATIENCE / 2)
        except Exception:  # each library has errors of its own for nodes that do not answer
            time.sleep(PATIENCE / 2)
    return None


def holds(lock: Any, lease: Any) -> bool:
    """Whether the holder still believes it, by what it can know without asking anybody."""
    return bool(lock.holding(lease)) if hasattr(lock, "holding") else lease.remaining() > 0


def add_one(store: Any, lease: Any, fenced: bool, work: float, may: Callable[[], bool]) -> None:
    """As a careful programmer writes it: whoever is refused stops, and so does whoever may not go on."""
    if fenced and hasattr(store, "register") and not store.register(lease):
        return
    value = store.read()
    time.sleep(work)
    if may():
        store.write(value + 1, lease) if fenced else store.write(value + 1)


def charge(me: Any, store: Any, lease: Any, fenced: bool) -> None:
    """Lets a gateway charge the customer, unless it is on record that it has been done."""
    if fenced and hasattr(store, "register") and not store.register(lease):
        return
    gateway = me.store(Gateway(client_of(me, "shop"), "gateway"))
    if store.read() == 0:
        gateway.do("order-7")
        store.write(1, lease) if fenced else store.write(1)


def built_in(p: SimpleNamespace) -> list[Any]:
    """What the story is given besides what a search places."""
    servers = ALL[p.row].servers
    replica = [Replica("r1", servers[0], lag=p.ttl / 5)] if p.replica and not ALL[p.row].ensemble else []
    beyond = servers[len(servers) // 2 + 1 :] if p.bare else ()
    return [*replica, *(OutOfReach("A", server) for server in beyond)]


@dataclass(frozen=True)
class OutOfReach:
    """The link between a client and a server is cut from the first moment on."""

    client: str
    server: str

    def arm(self, world: World) -> None:
        world.server(self.server)
        world.network.cut(self.client, self.server)


increment = Story(
    name="increment",
    claim="Two clients add one under a lock. Which mishap loses an addition?",
    params={
        "row": Param("R3", choices=tuple(ALL), unit="", label="row of the matrix"),
        "ttl": TTL,
        "work": Param(1.0, 0.0, 30.0, 0.5, label="the work takes"),
        "effect": Param("count", choices=("count", "charge"), unit="", label="what is done"),
        "replica": Param(0, 0, 1, 1, unit="", label="replicas of the lock's server"),
        "looks": Param(0, 0, 1, 1, unit="", label="a holder looks at its lease once more before it writes"),
        "bare": Param(0, 0, 1, 1, unit="", label="A reaches no more than a bare majority"),
    },
    actors={"A": adding(0.0), "B": adding(0.5)},
    faults=built_in,
    servers=("shop",),
    durable=("shop",),
    until=300.0,
)
