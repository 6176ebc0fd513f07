"""Section three, one renewal task for many locks: what a shard that is down does to the locks of those that are not.

A model in Python of how Redisson renews from 3.44 on, by its source, not Redisson itself: one task goes through all
locks of a client, batch by batch, one after the other, and an error ends the round. Here the shards come in the order
of their names, and lose what is sent to them when they are down; there a hash table of slots makes the order.
"""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

from ..locks import WatchdogLock
from ..locks.lease import drift
from ..story import Param, Story
from ..timeline import Timeline
from ._actors import LOCK
from .redisson import (
    GENERATION,
    HABITS,
    BlackHole,
    give_back,
    in_background,
    insist,
    keep_renewed,
    lock_on,
    plain_client,
)

SHARDS = {name: f"shard-{name}" for name in "abc"}  # the name of a shard -> its server
Held = dict[str, tuple[Any, Any]]  # the name of a lock -> the lock and its lease
RENEW = """-- renew: gives each lock a full TTL again that is ours
-- KEYS[i] a lock   ARGV[1] the TTL, ms   ARGV[i + 1] our token for it   1: renewed, 0: not ours any more
local result = {}
for i, key in ipairs(KEYS) do
    local hash = redis.call('TYPE', key).ok == 'hash'
    local holder = hash and redis.call('HGET', key, 'owner') or not hash and redis.call('GET', key)
    result[i] = holder == ARGV[i + 1] and redis.call('PEXPIRE', key, ARGV[1]) or 0
end
return result
"""


def expired(timeline: Timeline) -> dict[str, int]:
    """For each server of a run, how many locks it let expire. A lock that was given back is none of them."""
    servers = dict.fromkeys(event.node for event in timeline.find("apply"))
    gone = {(event.node, event.name) for event in timeline.find("expire") if event.name in timeline.keys}
    return {server: sum(node == server for node, _ in gone) for server in servers}


def noted(lock: Any) -> Any:
    """The same lock, whose `extend` sends nothing: it is told what a batch has done, and the timeline with it."""
    lock.extend = lambda lease: lease
    return lock


def renew_batch(redis: Any, held: Held, names: list[str], ttl: float) -> None:
    """One command for many locks of one server. One that is not ours any more is dropped without a word."""
    sent, names = time.monotonic(), [name for name in names if name in held]
    tokens = [held[name][1].token for name in names]
    ours = redis.eval(RENEW, len(names), *names, round(ttl * 1000), *tokens)
    for name, still in zip(names, ours, strict=True):
        lock, lease = held.pop(name, (None, None))  # None: given back meanwhile
        if still and lock is not None:
            held[name] = lock, lock.extend(replace(lease, deadline=sent + ttl - drift(ttl)))


def renew_all(shards: dict[str, Held], clients: dict[str, Any], p: SimpleNamespace) -> bool:
    """One round, shard by shard and batch by batch, each repeated as the habit is. Raises redis-py's error of the first
    that stays without an answer: then nobody behind it has been renewed."""
    for shard, held in shards.items():
        names = list(held)
        for batch in [names[n : n + p.chunk] for n in range(0, len(names), p.chunk)]:
            insist(HABITS[p.retries], partial(renew_batch, clients[shard], held, batch, p.ttl))
    return any(shards.values())


def take(me: Any, p: SimpleNamespace, client: Any, name: str, held: Held) -> tuple[Any, Any]:
    """Takes one lock and hands it to the renewal task, unless it renews itself."""
    lock = lock_on(client, p, name)
    itself = isinstance(lock, WatchdogLock)
    lock = me.lock(lock if itself else noted(lock))
    lease = lock.acquire(0)
    if not itself:
        held[name] = lock, lease
    return lock, lease


def holder_of_many(me: Any, p: SimpleNamespace) -> None:
    """Client A: takes its locks, one on each shard in turn, works, and gives them back."""
    clients, shards = {s: plain_client(me, SHARDS[s]) for s in SHARDS}, {s: Held() for s in SHARDS}
    for task in [shards] if p.renewal == "one-task" else [{name: held} for name, held in shards.items()]:
        in_background(keep_renewed, partial(renew_all, task, clients, p), p.ttl / 3, True)
    places = [("abc"[n % 3], n // 3 + 1) for n in range(p.locks)]
    mine = [(shard, *take(me, p, clients[shard], f"{shard}{n}", shards[shard])) for shard, n in places]
    time.sleep(p.work)
    for held in shards.values():
        held.clear()  # what is being given back is not renewed any more
    silent = set[str]()
    for shard, lock, lease in mine:
        if shard not in silent and not give_back(me, lock, lease):
            silent.add(shard)


def one_who_waits(me: Any, p: SimpleNamespace) -> None:
    """Client B: wants a lock of the last shard that works, from shortly before a lease that nobody renews is over."""
    time.sleep(p.ttl * 0.9)
    shard = next(name for name in reversed(SHARDS) if name != p.dead)
    lock = me.lock(lock_on(plain_client(me, SHARDS[shard]), p, f"{shard}1"))
    lease = lock.acquire(10.0)
    if lease is not None:
        time.sleep(5.0)
        give_back(me, lock, lease)


shard_down = Story(
    name="shard-down",
    claim="One client holds locks on three shards, and one shard goes down. Whose locks expire?",
    params={
        "lock": LOCK,
        "ttl": Param(30.0, 3.0, 60.0, 1.0, label="TTL"),
        "locks": Param(6, 3, 300, 1, unit="", label="locks"),
        "chunk": Param(5, 1, 100, 1, unit="", label="renewed at a time"),
        "renewal": Param("one-task", choices=("one-task", "task-a-shard"), unit="", label="renewal by"),
        "retries": replace(GENERATION, label="asks again as Redisson up to 3.43, or 4"),
        "dead": Param("b", choices=tuple(SHARDS), unit="", label="shard that is down"),
        "start": Param(5.0, 1.0, 60.0, 0.5, label="down from"),
        "lasting": Param(300.0, 0.0, 300.0, 1.0, label="for"),
        "work": Param(55.0, 0.0, 120.0, 1.0, label="A works for"),
    },
    actors={"A": holder_of_many, "B": one_who_waits},
    faults=lambda p: [BlackHole(("A", "B"), SHARDS[p.dead], p.start, p.start + p.lasting)],
    servers=tuple(SHARDS.values()),
    until=400.0,
)
