"""Section three, how Redisson asks again: one renewal is several sends, and Redis is out of reach for most of them.

A model in Python of what Redisson's documented defaults and its source say of time-outs and repeats, not Redisson
itself: no Java runs here. As with its pool, connections are open when the hole begins, so that each send leaves at
once. What leaves into the hole is lost for good: TCP's own repeats, ever rarer, are left out. Where they arrive late
after all, more survives than here.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any, TypeVar

from redis.exceptions import ConnectionError, RedisError, TimeoutError

from ..locks import LOCKS, LeaseLost, WatchdogLock
from ..sim import Fate
from ..stores import Register
from ..story import Param, Story
from ._actors import LOCK, impatient

T = TypeVar("T")
REPLY = 3.0  # seconds that Redisson waits for an answer, all generations


@dataclass(frozen=True)
class Habit:
    """pauses: seconds between two sends of one command, each drawn from (from, to); so one more send than pauses.
    again: whether a renewal that has failed is followed by another."""

    pauses: tuple[tuple[float, float], ...]
    again: bool

    def budget(self) -> tuple[float, float]:
        """Seconds that a command takes which nobody answers: at the least, at the most."""
        waits = REPLY * (len(self.pauses) + 1)
        return waits + sum(low for low, _ in self.pauses), waits + sum(high for _, high in self.pauses)


# Source (E61): timeout=3000 in both; retryAttempts=3 and retryInterval=1500 up to 3.43, then retryAttempts=4 and a
# pause that doubles from 1 s up to 2 s, one half of it fixed and the other drawn.
HABITS = {
    "3.43": Habit(pauses=((1.5, 1.5),) * 3, again=False),
    "4": Habit(pauses=((0.5, 1.0), (1.0, 2.0), (1.0, 2.0), (1.0, 2.0)), again=True),
}
GENERATION = Param("3.43", choices=tuple(HABITS), unit="", label="Redisson up to 3.43, or 4")


def insist(habit: Habit, command: Callable[[], T]) -> T:
    """What the command returns; it is sent again, after a pause, as often as the habit allows. Raises redis-py's
    TimeoutError or ConnectionError of the last send."""
    for pause in habit.pauses:
        try:
            return command()
        except (ConnectionError, TimeoutError):
            time.sleep(random.uniform(*pause))
    return command()


def keep_renewed(renew: Callable[[], bool], every: float, again: bool) -> None:
    """A renewal task with a fixed delay: `renew` is called `every` seconds after it has last ended, until it says that
    nothing is left to do; after an error only if the habit is to try `again`. Nobody is told."""
    while True:
        time.sleep(every)
        try:
            if not renew():
                return
        except RedisError:
            if not again:
                return


def in_background(work: Callable[..., None], *args: Any) -> None:
    threading.Thread(target=work, args=args, name="renewal", daemon=True).start()


@dataclass(frozen=True)
class BlackHole:
    """From second `start` to second `end`, what these clients and the server send each other is lost; no connection
    breaks, and nobody is refused."""

    clients: tuple[str, ...]
    server: str
    start: float
    end: float

    def arm(self, world: Any) -> None:
        world.rule(self._fate(world))
        for at, kind in ((self.start, "cut"), (self.end, "heal")):
            for name in self.clients if self.start < self.end else ():
                world.at(at, lambda n=name, k=kind: world.emit(n, k, self.server, {"peer": self.server}))

    def _fate(self, world: Any) -> Callable[[Any], Fate | None]:
        def fate(packet: Any) -> Fate | None:
            meant = packet.server == self.server and packet.client in self.clients
            return Fate(lost=True) if meant and self.start <= world.now < self.end else None

        return fate


def plain_client(me: Any, server: str = "redis") -> Any:
    """A client that waits three seconds for an answer and asks again by nobody's habit but its caller's."""
    return impatient(me, REPLY, server)


def lock_on(client: Any, p: SimpleNamespace, key: str = "stock") -> Any:
    """A lock of the kind that the story is played with."""
    kind = LOCKS[p.lock] if isinstance(p.lock, str) else p.lock
    return kind(client, key, p.ttl, poll=1.0)


def told_nothing(lock: Any) -> Any:
    """The same lock, whose `extend` answers False if the lease is lost: a task in the background has nobody to tell."""
    extend = lock.extend

    def quietly(lease: Any) -> Any:
        try:
            return extend(lease)
        except LeaseLost:
            return False

    lock.extend = quietly
    return lock


def write_on(me: Any, seconds: float, every: float = 8.0) -> None:
    """Counts up in the shop's register, sure of the lock: it reads once, and looks at no deadline."""
    sold = me.store(Register(plain_client(me, "shop"), "sold"))
    count, end = sold.read(), time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        time.sleep(min(every, left))
        count += 1
        sold.write(count)


def give_back(me: Any, lock: Any, lease: Any) -> bool:
    """The release, which is the first to say that the lock was lost; whether it was answered at all."""
    try:
        lock.release(lease)
    except LeaseLost as lost:
        me.note(f"{me.name} learns it at its release of {lock.name}: {lost.reason}")
    except RedisError as error:
        me.note(f"{me.name}'s release of {lock.name} has no answer: {type(error).__name__}")
        return False
    return True


def holder(me: Any, p: SimpleNamespace) -> None:
    """Client A: works under a lock that is renewed in the background. One that renews itself is left to do so, and to
    say when it has failed; A does not listen."""
    lock, habit = lock_on(plain_client(me), p), HABITS[p.generation]
    itself = isinstance(lock, WatchdogLock)
    if itself:
        lock.on_lost = partial(me.lost, lock.name)
    lock = me.lock(lock if itself else told_nothing(lock))
    lease = lock.acquire(0)
    if not itself:
        in_background(keep_renewed, lambda: insist(habit, lambda: lock.extend(lease)), p.ttl / 3, habit.again)
    write_on(me, p.work)
    give_back(me, lock, lease)


def next_one(me: Any, p: SimpleNamespace) -> None:
    """Client B: comes when Redis can be reached again, and waits for the lock."""
    time.sleep(p.end + 0.5)
    lock = me.lock(lock_on(plain_client(me), p))
    lease = lock.acquire(150.0)
    if lease is not None:
        write_on(me, 6.0, every=3.0)
        give_back(me, lock, lease)


black_hole = Story(
    name="black-hole",
    claim="Redis cannot be reached for a while, and is back before the lease ends. Does A keep its lock?",
    params={
        "lock": LOCK,
        "generation": GENERATION,
        "ttl": Param(30.0, 3.0, 60.0, 1.0, label="TTL"),
        "start": Param(5.0, 1.0, 60.0, 0.5, label="out of reach from"),
        "end": Param(28.0, 0.0, 60.0, 0.5, label="until"),
        "work": Param(45.0, 0.0, 120.0, 1.0, label="A works for"),
    },
    actors={"A": holder, "B": next_one},
    faults=lambda p: [BlackHole(("A", "B"), "redis", p.start, p.end)],
    servers=("redis", "shop"),
    until=300.0,
)
