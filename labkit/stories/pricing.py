"""Section four, a price that is set under a lock: twice by one holder (E21), and by two of whom the first comes late
(E28). What the store looks at is a parameter; `idempotent` is one that knows each request again and has no order."""

from __future__ import annotations

import time
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from ..locks import FencedLock
from ..sim import Fate
from ..stores import FencedRegister
from ..stores.holder import Grant
from ..story import Param, Story
from ..timeline import Timeline
from ._actors import TTL, impatient
from .fencing import STORES, leave, register, write

ONCE = """
-- write: each request has its effect once
-- KEYS[1] the value   KEYS[2] the requests that have been done      ARGV[1] this request   ARGV[2] the new value
if redis.call('SADD', KEYS[2], ARGV[1]) == 1 then redis.call('SET', KEYS[1], ARGV[2]) end
return 1
""".strip()


class IdempotentRegister(FencedRegister):
    """Executes each request once, however often it arrives; the key of one is the owner with his value. It does not ask
    whose grant is newer (E28)."""

    def register(self, lease: Grant) -> bool:
        return True

    def write(self, value: int, lease: Grant) -> bool:
        _, owner = self._pair(lease)
        done = "{" + self.name + "}:done"
        return bool(self.client.eval(ONCE, 2, self.name, done, f"{owner}:{value}", value))


PRICED = {"idempotent": IdempotentRegister, **STORES}


def store(default: str) -> Param:
    return Param(default, choices=tuple(PRICED), unit="", label="store", classes=True)


def price_of(me: Any, p: SimpleNamespace) -> Any:
    """The watched price of this run."""
    kind = PRICED[p.store] if isinstance(p.store, str) else p.store
    client = impatient(me, 2 * p.ttl + 120.0, "shop")  # waits for the answer, however late
    return me.store(kind(client, "price"))


def setting(*prices: int, comes: float = 0.0, between: float = 1.0) -> Any:
    """A client that comes at its time and sets these prices, one after the other, under one grant."""

    def actor(me: Any, p: SimpleNamespace) -> None:
        time.sleep(comes)
        lock, price = me.lock(FencedLock(me.redis(), "stock", p.ttl, poll=1.0)), price_of(me, p)
        lease = lock.acquire(60.0)
        if register(price, lease):
            for value in prices:
                write(price, value, lease)
                time.sleep(between)
        leave(me, lock, lease)

    return actor


two_steps = Story(
    name="two-steps",
    claim="One holder writes twice under one grant. Does the store take the second write of the same token?",
    params={"store": store("strict"), "ttl": TTL},
    actors={"A": setting(10, 20), "B": setting(30, comes=0.5)},
    servers=("redis", "shop"),
    durable=("shop",),
)


@dataclass(frozen=True)
class LateAndTwice:
    """Each write reaches the shop twice; what A writes stays in the network for `by` seconds."""

    by: float

    def arm(self, world: Any) -> None:
        def fate(packet: Any) -> Fate | None:
            if packet.direction != "request" or not packet.text.startswith(("EVAL write", "SET price")):
                return None
            return Fate(after=self.by if packet.client == "A" else 0.0, again=0.2)

        world.rule(fate)


late_price = Story(
    name="late-price",
    claim="Every write has its effect once, and A's arrives after B's. Which price stands in the end?",
    params={
        "store": store("idempotent"),
        "ttl": TTL,
        "by": Param(12.0, 0.0, 60.0, 0.5, label="A's write is late by"),
    },
    actors={"A": setting(10), "B": setting(20, comes=0.5)},
    faults=lambda p: [LateAndTwice(p.by)],
    servers=("redis", "shop"),
    durable=("shop",),
    until=300.0,
)


def prices(timeline: Timeline) -> list[str]:
    """What the price was, one after the other, as the server has it."""
    return [e.data["keys"]["price"]["value"] for e in timeline.find("apply") if "price" in e.data["keys"]]
