"""Section six, the debate: what Martin Kleppmann and Salvatore Sanfilippo hold against each other, as runs.

Each story plays an argument and the reply to it. They settle what follows from what; whether such mishaps are to be
reckoned with, and what may be asked of a store, no run can say. Sources: «How to do distributed locking» (8 February
2016) and «Is Redlock safe?» (9 February 2016). Clocks of the nodes: see `redlock`. The file is longer than others,
because the arguments answer each other; everybody in it adds one to what is sold, in the same few lines.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

from redis.exceptions import RedisError

from ..faults import Delay, Partition, Pause, Restart, Suspend
from ..locks import Lease, Redlock, SafeLock
from ..sim import Fate, Packet, World
from ..stores import FencedRegister, Register
from ..story import Param, Story
from ._actors import TTL, impatient
from .fencing import register, write
from .redlock import FIVE, PATIENCE, acquire, quorum, quorum_lock, work

SHOP = "shop"
SERVERS = (*FIVE, SHOP)
AT_ANY_TIME = -1.0  # for who does not look at its clock


def add_one(me: Any, kind: Any, lease: Any, thinks: float, least: float = AT_ANY_TIME) -> bool:
    """Registers, reads, works, and writes one more, if more than `least` seconds of the lease are left by then."""
    store = me.store(kind(impatient(me, 1000.0, SHOP), "sold"))
    if not register(store, lease):
        return False
    seen = store.read()
    time.sleep(thinks)
    if lease.remaining() <= least:
        me.note(f"{me.name} looks at its clock and stops.")
        return False
    return write(store, seen + 1, lease)


class ClaimRegister:
    """The store of antirez's third point: who begins writes its random token there, and may write as long as that is
    still there. No update is lost, by the compare and set; but claims have no order. The last to claim is the one, even
    if it is an older holder that comes late."""

    WRITE = """
-- write: if the claim is still ours      KEYS the claim, the value      ARGV our token, the new value
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[2], ARGV[2])
return 1
""".strip()

    def __init__(self, client: Any, name: str) -> None:
        self.client, self.name, self.claim = client, name, f"{{{name}}}:claim"

    def register(self, lease: Any) -> bool:
        """Nobody is refused."""
        self.client.set(self.claim, lease.token)
        return True

    def read(self) -> int:
        return int(self.client.get(self.name) or 0)

    def write(self, value: int, lease: Any) -> bool:
        return bool(self.client.eval(self.WRITE, 2, self.claim, self.name, lease.token, value))


# -- a holder that takes care ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PauseAtShop:
    """Pauses `client` for `lasting` seconds just before its `nth` command to the store."""

    client: str
    lasting: float
    nth: int

    def arm(self, world: World) -> None:
        sent: list[Packet] = []

        def strike(packet: Packet) -> None:
            if (packet.client, packet.server) == (self.client, SHOP):
                sent.append(packet)
                if len(sent) == self.nth:
                    world.pause(self.client, self.lasting)

        world.trigger(strike)


STORES: dict[str, Any] = {"unchecked": Register, "claim": ClaimRegister}
WRITES = {"unchecked": 2, "claim": 3}  # which of a holder's commands to the store is its write
CARE: dict[str, Callable[[SimpleNamespace], list[Any]]] = {
    "none": lambda p: [],
    "before-look": lambda p: [Pause("A", p.lasting, at=1.0)],
    "after-look": lambda p: [PauseAtShop("A", p.lasting, WRITES[p.store])],
    "write-delayed": lambda p: [Delay(client="A", server=SHOP, nth=WRITES[p.store], by=p.lasting)],
    "suspended": lambda p: [Suspend("A", at=1.0, lasting=p.lasting)],
    "before-claim": lambda p: [PauseAtShop("A", p.lasting, 1)],
}


def careful(comes: Callable[[SimpleNamespace], float], thinks: float) -> Callable[..., None]:
    def actor(me: Any, p: SimpleNamespace) -> None:
        time.sleep(comes(p))
        lock = quorum_lock(me, p)
        lease = acquire(me, lock, 2 * p.ttl)
        if lease is not None:
            add_one(me, STORES[p.store], lease, thinks, 0.0 if p.look == "yes" else AT_ANY_TIME)
            work(me, lock, lease, 0.0)

    return actor


def after_a_ttl(p: SimpleNamespace) -> float:
    """When A's lease has run out."""
    return float(p.ttl + 0.5)


careful_holder = Story(
    name="careful-holder",
    claim="A looks at its clock before it writes. Against which mishaps does that help, and against which a claim?",
    params={
        "lock": quorum(),
        "ttl": TTL,
        "store": Param("unchecked", choices=tuple(STORES), unit="", label="store"),
        "mishap": Param("after-look", choices=tuple(CARE), unit="", label="the mishap"),
        "lasting": Param(15.0, 0.0, 60.0, 0.5, label="it lasts"),
        "look": Param("yes", choices=("yes", "no"), unit="", label="A and B look at their clocks"),
    },
    actors={"A": careful(lambda p: 0.001, 3.0), "B": careful(after_a_ttl, 8.0)},
    faults=lambda p: CARE[p.mishap](p),
    servers=SERVERS,
    durable=(SHOP,),
    until=300.0,
)


# -- while the answers are under way -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class LateAnswers:
    """The answers to `client`'s first request for the lock take `by` seconds longer, from every node."""

    client: str
    by: float

    def arm(self, world: World) -> None:
        def late(packet: Packet) -> Fate | None:
            first = packet.direction == "reply" and (packet.client, packet.name, packet.nth) == (self.client, "SET", 1)
            return Fate(after=self.by) if first else None

        world.rule(late)


@dataclass(frozen=True)
class PauseOnceAsked:
    """Pauses `client` for `by` seconds as soon as it has asked every node, before any answer is there."""

    client: str
    by: float

    def arm(self, world: World) -> None:
        asked: set[str] = set()

        def strike(packet: Packet) -> None:
            if packet.client == self.client and packet.name == "SET" and len(asked) < len(FIVE):
                asked.add(packet.server)
                if len(asked) == len(FIVE):
                    world.at(world.now, lambda: world.pause(self.client, self.by))

        world.trigger(strike)


WAITS: dict[str, Any] = {"pause": PauseOnceAsked, "network": LateAnswers}


def asks(comes: Callable[[SimpleNamespace], float]) -> Callable[..., None]:
    def actor(me: Any, p: SimpleNamespace) -> None:
        time.sleep(comes(p))
        lock = quorum_lock(me, p, patience=None, budget=p.budget)
        work(me, lock, acquire(me, lock, 3 * p.ttl))

    return actor


in_flight = Story(
    name="in-flight",
    claim="All nodes have said yes, and A hears it when its keys have expired. Does it take the lock for its own?",
    params={
        "lock": quorum(),
        "ttl": TTL,
        "what": Param("pause", choices=tuple(WAITS), unit="", label="what keeps the answers from A"),
        "by": Param(12.0, 0.0, 60.0, 0.05, label="for"),
        "budget": Param(0.2, 0.01, 9.8, 0.01, label="A waits for answers at most"),
    },
    actors={"A": asks(lambda p: 0.001), "B": asks(after_a_ttl)},
    faults=lambda p: [WAITS[p.what]("A", p.by)],
    servers=FIVE,
)


# -- a number for Redlock ----------------------------------------------------------------------------------------------


class OneCounter(Redlock):
    """A Redlock that draws a fencing token from a counter on its first node. (Not in the grant's own step, which is a
    fault of its own, E80; it does no harm here.)"""

    def __init__(self, clients: list[Any], name: str, ttl: float, poll: float) -> None:
        super().__init__(clients, name, ttl, poll)
        self.counting = clients[:1]

    def try_acquire(self) -> Lease | None:
        lease = super().try_acquire()
        return None if lease is None else replace(lease, fence=max(map(self._count, self.counting)))

    def _count(self, client: Any) -> int:
        with suppress(RedisError):
            return int(client.incr(f"{self.name}:fence"))
        return 0


class FiveCounters(OneCounter):
    """The same with a counter on every node; the token is the highest number that it is told."""

    def __init__(self, clients: list[Any], name: str, ttl: float, poll: float) -> None:
        super().__init__(clients, name, ttl, poll)
        self.counting = clients


COUNTERS: dict[str, Any] = {"one": OneCounter, "five": FiveCounters}
GRANTS = 4  # of A, one a second; during the last it works for too long, and B comes


def numbered(me: Any, p: SimpleNamespace, comes: float, thinks: float | None = None) -> None:
    """Takes the lock with its number, and gives it back; in between adds one, with that much work."""
    time.sleep(max(0.0, comes - me.world.now))
    lock = quorum_lock(me, SimpleNamespace(lock=COUNTERS[p.counters], ttl=p.ttl))
    lease = acquire(me, lock, 2 * p.ttl)
    if lease is not None and thinks is not None:
        add_one(me, FencedRegister, lease, thinks)
    work(me, lock, lease, 0.0)


def often(me: Any, p: SimpleNamespace) -> None:
    for n in range(GRANTS - 1):
        numbered(me, p, n + 0.001)
    numbered(me, p, GRANTS - 0.999, 1.5 * p.ttl)


def losses(p: SimpleNamespace) -> list[Any]:
    """One counter: its node forgets. Five: A reaches n1 always, of the others two and two by turns; B those three that
    have counted less."""
    if p.counters == "one":
        return [Restart("n1", at=GRANTS - 0.1)]
    turns = [("n4", "n5"), ("n2", "n3")]
    by_turns = [Partition("A", name, float(n), 0.9) for n in range(GRANTS) for name in turns[n % 2]]
    return [*by_turns, Partition("B", "n1"), Partition("B", "n5")]


five_counters = Story(
    name="five-counters",
    claim="Redlock is given a counter on one node, or one on each. Has the newest holder the highest number?",
    params={"ttl": TTL, "counters": Param("five", choices=tuple(COUNTERS), unit="", label="nodes with a counter")},
    actors={"A": often, "B": lambda me, p: numbered(me, p, GRANTS + after_a_ttl(p), 1.0)},
    faults=losses,
    servers=SERVERS,
    durable=(SHOP,),
)


# -- a store that checks, and a lock of any strength -------------------------------------------------------------------


class OpenLock:
    """Says yes to everybody."""

    def __init__(self, clients: list[Any], name: str, ttl: float, poll: float) -> None:
        self.name, self.ttl = name, ttl

    def acquire(self, timeout: float | None = None) -> Lease:
        return Lease(self.name, os.urandom(16).hex(), None, time.monotonic() + self.ttl)

    def release(self, lease: Lease) -> None:
        pass


STRENGTHS: dict[str, Callable[..., Any]] = {
    "none": OpenLock,
    "one": lambda clients, name, ttl, poll: SafeLock(clients[0], name, ttl, poll),
    "five": Redlock,
}


def until_done(comes: float) -> Callable[..., None]:
    """Whoever is refused, or finds the lock's server away, rests for a random while, and begins again."""

    def actor(me: Any, p: SimpleNamespace) -> None:
        time.sleep(comes)
        clients, done = [impatient(me, PATIENCE, name) for name in FIVE], False
        lock = me.lock(STRENGTHS[p.strength](clients, "stock", p.ttl, poll=p.ttl / 20))
        while not done:
            lease = acquire(me, lock, 10 * p.ttl)
            done = lease is not None and add_one(me, ClaimRegister, lease, 1.0)
            work(me, lock, lease, 0.0)
            time.sleep(0.0 if done else random.uniform(0.0, 5.0))

    return actor


crowd = Story(
    name="crowd",
    claim="Four clients add one each, and the store checks their claims. What is a stronger lock good for?",
    params={
        "strength": Param("one", choices=tuple(STRENGTHS), unit="", label="nodes of the lock"),
        "ttl": TTL,
        "mishap": Param("none", choices=("none", "forgets"), unit="", label="what n1 does meanwhile"),
    },
    actors={name: until_done(0.3 * n) for n, name in enumerate("ABCD")},
    faults=lambda p: [Restart("n1", at=0.7)] if p.mishap == "forgets" else [],
    servers=SERVERS,
    durable=(SHOP,),
    until=600.0,
)


# -- bounds ------------------------------------------------------------------------------------------------------------


def within(comes: float) -> Callable[..., None]:
    """Asks twice a lease, for two leases; two seconds of work."""

    def actor(me: Any, p: SimpleNamespace) -> None:
        time.sleep(comes)
        lock, lease = quorum_lock(me, SimpleNamespace(lock="redlock", ttl=p.lease)), None
        while lease is None and me.world.now < 2 * p.lease:
            lease = acquire(me, lock, 0.0)
            time.sleep(0.0 if lease else p.lease / 2)
        if lease is not None:
            add_one(me, Register, lease, 2.0, p.margin)
            work(me, lock, lease, 0.0)

    return actor


timing = Story(
    name="timing",
    claim="A and B keep a margin for all that may be late. Which bounds does the safety of Redlock rest on?",
    params={
        "ttl": Param(10.0, 1.0, 600.0, 1.0, label="a mishap is measured by"),  # in the menus of a search
        "lease": Param(60.0, 1.0, 600.0, 1.0, label="the lock's TTL"),
        "margin": Param(40.0, 0.0, 600.0, 1.0, label="who has less left does not write"),
    },
    actors={"A": within(0.001), "B": within(1.0)},
    faults=lambda p: [Partition("A", name) for name in FIVE[3:]],
    servers=SERVERS,
    durable=(SHOP,),
    until=3000.0,
)
