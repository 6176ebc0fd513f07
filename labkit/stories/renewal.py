"""Section three, renewal: what a watchdog survives, what it cannot, and what its owner is told and when. The file is
long because its seven stories share their actors."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

from redis.exceptions import ConnectionError, RedisError, TimeoutError

from ..faults import Evict, Partition
from ..locks import LOCKS, LeaseLost, WatchdogLock
from ..sim import Fate
from ..stores import Register
from ..story import Param, Story
from ._actors import LOCK, impatient, lock_of

WATCHDOG = replace(LOCK, default="watchdog")
TTL = Param(30.0, 3.0, 60.0, 1.0, label="TTL")
WORK = Param(60.0, 0.0, 120.0, 1.0, label="A works for")
N = Param(3, 2, 5, 1, unit="", label="renewals a TTL, N")
POLICY = Param("deadline", choices=("deadline", "first-error", "for-ever"), unit="", label="after an error")


def is_renewal(packet: Any) -> bool:
    """Whether a request gives a lock more time: a script of ours, PEXPIRE, or the token written anew."""
    words = packet.text.split()
    return packet.direction == "request" and (
        words[:2] in (["EVALSHA", "extend"], ["EVALSHA", "prolong"])
        or words[0] == "PEXPIRE"
        or (words[0] == "SET" and words[1] == "stock" and "NX" not in words)
    )


@dataclass(frozen=True)
class AtRenewal:
    """Strikes at the renewals of client A from the `first` to the `last`: loses them, delays them by `by` seconds, or
    pauses A for `pause` seconds just before they leave."""

    first: int
    last: int
    by: float | None = None
    pause: float | None = None

    def arm(self, world: Any) -> None:
        seen = list[Any]()

        def meant(packet: Any) -> bool:
            if packet.client != "A" or not is_renewal(packet):
                return False
            seen.append(packet)
            return self.first <= len(seen) <= self.last

        if self.pause is not None:
            world.trigger(lambda packet: world.pause("A", self.pause) if meant(packet) else None)
        else:
            world.rule(lambda packet: self._fate(world) if meant(packet) else None)

    def _fate(self, world: Any) -> Any:
        return Fate(lost=True) if self.by is None else Fate(after=self.by)


def renewed_lock(me: Any, p: SimpleNamespace, told: list[str], client: Any, **options: Any) -> Any:
    """A watched lock of the kind that the story is played with; one that renews itself tells this client of a loss."""
    kind = LOCKS[p.lock] if isinstance(p.lock, str) else p.lock
    if not issubclass(kind, WatchdogLock):
        return lock_of(me, p, client=client)

    def on_lost(reason: str) -> None:
        told.append(reason)
        me.lost("stock", reason)

    return me.lock(kind(client, "stock", p.ttl, 1.0, on_lost=on_lost, **options))


def giving_up(me: Any, work: Callable[..., None], *args: Any) -> None:
    """What becomes of the work if the lock is lost at its end, or the server cannot be reached."""
    try:
        work(*args)
    except LeaseLost as lost:
        me.note(f"{me.name} learns it at its release: {lost.reason}")
    except RedisError as error:
        me.note(f"{me.name} gives up: {type(error).__name__}")


def work_and_sell(me: Any, p: SimpleNamespace, lock: Any, told: list[str], redis: Any) -> None:
    """Under the lock: read, work in steps of a second, look between them whether the lock is lost, and write."""
    sold = me.store(Register(redis, "sold"))
    lease = lock.acquire(90.0)
    if lease is None:
        return
    count, end = sold.read(), time.monotonic() + p.work
    while not told and (left := end - time.monotonic()) > 0:
        time.sleep(min(1.0, left))
    if told:
        me.note(f"{me.name} stops: its lock is lost ({told[0]})")
        return
    sold.write(count + 1)
    lock.release(lease)


def holder() -> Callable[[Any, SimpleNamespace], None]:
    """Client A: works long under a lock that is renewed N times a TTL."""

    def actor(me: Any, p: SimpleNamespace) -> None:
        options = {"interval": p.ttl / getattr(p, "n", 3), "budget": 0.1, "policy": getattr(p, "policy", "deadline")}
        told, redis = list[str](), impatient(me, 0.1)
        giving_up(me, work_and_sell, me, p, renewed_lock(me, p, told, redis, **options), told, redis)

    return actor


def next_one(me: Any, p: SimpleNamespace) -> None:
    """Client B: wants the lock from the first second on, and has less to do."""
    time.sleep(0.5)
    redis = me.redis()
    lock, sold = lock_of(me, p, client=redis), me.store(Register(redis, "sold"))
    giving_up(me, sell_one, lock, sold, getattr(p, "busy", 2.0))


def sell_one(lock: Any, sold: Any, busy: float) -> None:
    lease = lock.acquire(150.0)
    if lease is not None:
        count = sold.read()
        time.sleep(busy)
        sold.write(count + 1)
        lock.release(lease)


renewal = Story(
    name="renewal",
    claim="Some renewals fail, one after the other. How many does A's lock survive?",
    params={
        "lock": WATCHDOG,
        "ttl": TTL,
        "work": WORK,
        "n": N,
        "k": Param(1, 0, 5, 1, unit="", label="renewals that fail"),
        "first": Param(1, 1, 10, 1, unit="", label="from the nth on"),
        "policy": POLICY,
    },
    actors={"A": holder(), "B": next_one},
    faults=lambda p: [AtRenewal(p.first, p.first + p.k - 1)] if p.k else [],
    until=300.0,
)

renewal_pause = Story(
    name="renewal-pause",
    claim="A stands still just before its second renewal leaves, for longer than its lease lasts. Who tells it what?",
    params={
        "lock": WATCHDOG,
        "ttl": TTL,
        "work": WORK,
        "pause": Param(35.0, 0.0, 60.0, 1.0, label="A pauses for"),
        "first": Param(2, 1, 5, 1, unit="", label="before renewal"),
        "busy": Param(20.0, 0.0, 60.0, 1.0, label="B works for"),
    },
    actors={"A": holder(), "B": next_one},
    faults=lambda p: [AtRenewal(p.first, p.first, pause=p.pause)],
    until=300.0,
)

slow_renewal = Story(
    name="slow-renewal",
    claim="A releases while a renewal of its is still in the network, and B gets the lock. What does the renewal do?",
    params={
        "lock": WATCHDOG,
        "ttl": replace(TTL, low=6.0),
        "work": Param(10.2, 0.0, 60.0, 0.1, label="A works for"),
        "by": Param(2.0, 0.0, 20.0, 0.1, label="the renewal is late by"),
    },
    actors={"A": holder(), "B": next_one},
    faults=lambda p: [AtRenewal(1, 1, by=p.by)],
    until=300.0,
)


def dying_thread(me: Any, p: SimpleNamespace) -> None:
    """Client A: a thread of it takes the lock and ends without a release; the process lives on."""
    lock = renewed_lock(me, p, list[str](), me.redis())

    def work() -> None:
        if lock.acquire(0):
            time.sleep(p.work)
            me.leaves("A's thread ends without a release; its process lives on")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    time.sleep(p.alive)


thread_death = Story(
    name="thread-death",
    claim="The thread that holds the lock dies without a release, and its process lives on. When is the lock free?",
    params={
        "lock": WATCHDOG,
        "ttl": TTL,
        "work": Param(5.0, 0.0, 60.0, 1.0, label="the thread works for"),
        "alive": Param(100.0, 0.0, 120.0, 1.0, label="the process lives on for"),
    },
    actors={"A": dying_thread, "B": next_one},
    until=300.0,
)

hung_server = Story(
    name="hung-server",
    claim="The lock server hangs: it accepts all and answers nothing. When does A know that its lock is lost?",
    params={
        "lock": WATCHDOG,
        "ttl": TTL,
        "work": WORK,
        "at": Param(5.0, 0.0, 60.0, 1.0, label="it hangs from"),
        "hung": Param(40.0, 0.0, 120.0, 1.0, label="for"),
    },
    actors={"A": holder(), "B": next_one},
    faults=lambda p: [Hang("redis", at=p.at, lasting=p.hung)],
    until=300.0,
)


@dataclass(frozen=True)
class Hang:
    """A server stands still: it executes nothing, and what arrives waits until it goes on."""

    server: str
    at: float
    lasting: float

    def arm(self, world: Any) -> None:
        world.at(self.at, lambda: world.pause(self.server, self.lasting))


flushed_key = Story(
    name="flushed-key",
    claim="Somebody deletes the lock's key, or the server evicts it, while A works. Does anybody tell A?",
    params={
        "lock": WATCHDOG,
        "ttl": TTL,
        "work": WORK,
        "at": Param(15.0, 0.0, 60.0, 1.0, label="gone at"),
    },
    actors={"A": holder(), "B": next_one},
    faults=lambda p: [Evict("stock", at=p.at)],
    until=300.0,
)


@dataclass(frozen=True)
class Profile:
    """How a library renews, as far as it matters here. policy: what follows a failed renewal.  part: of a TTL, between
    renewals.  retry: seconds after a failed one (None: as usual).  sends, wait, pause: how often one renewal is sent
    before it has failed, and the seconds to each answer and between two (from, to)."""

    policy: str
    part: float
    retry: float | None
    sends: int
    wait: float
    pause: tuple[float, float] = (0.0, 0.0)

    def once(self) -> float:
        """Seconds until one renewal that nobody answers has failed, at the least."""
        return self.sends * self.wait + (self.sends - 1) * self.pause[0]


PROFILES = {  # source: their code and its defaults; Redisson 4 draws its pauses anew each time
    "python-redis-lock": Profile("first-error", 2 / 3, None, sends=1, wait=5.0),
    "redisson-3.43": Profile("first-error", 1 / 3, None, sends=4, wait=3.0, pause=(1.5, 1.5)),
    "redisson-3.44": Profile("for-ever", 1 / 3, None, sends=5, wait=3.0, pause=(1.0, 2.0)),
    "deadline": Profile("deadline", 1 / 3, 0.5, sends=1, wait=1.0),
}


def persistent(redis: Any, profile: Profile) -> Any:
    """The same client, which sends each command again as the profile says."""
    execute = redis.execute_command

    def persistently(*command: Any, **options: Any) -> Any:
        for _ in range(profile.sends - 1):
            try:
                return execute(*command, **options)
            except (ConnectionError, TimeoutError):
                time.sleep(random.uniform(*profile.pause))
        return execute(*command, **options)

    redis.execute_command = persistently
    return redis


def by_profile(me: Any, p: SimpleNamespace) -> None:
    """Client A, renewing as the chosen library does."""
    profile, told = PROFILES[p.profile], list[str]()
    redis = persistent(impatient(me, profile.wait), profile)
    budget = min(profile.once(), p.ttl / 2)
    times = {"interval": p.ttl * profile.part, "retry": profile.retry, "budget": budget, "margin": p.ttl / 20}
    lock = renewed_lock(me, p, told, redis, policy=profile.policy, **times)
    giving_up(me, work_and_sell, me, p, lock, told, redis)


policies = Story(
    name="policies",
    claim="The server cannot be reached for a while. What is left of the lock under each library's way of renewing?",
    params={
        "lock": WATCHDOG,
        "profile": Param("deadline", choices=tuple(PROFILES), unit="", label="renews as"),
        "ttl": TTL,
        "work": WORK,
        "at": Param(5.0, 0.0, 60.0, 1.0, label="cut off from"),
        "until": Param(28.0, 0.0, 120.0, 1.0, label="until"),
    },
    actors={"A": by_profile, "B": next_one},
    faults=lambda p: [Partition("A", "redis", at=p.at, lasting=max(p.until - p.at, 0.0))],
    until=300.0,
)
