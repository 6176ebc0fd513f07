"""Between sections two and three: a lock that is a string, and a renewal script that looks for a hash (E11)."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace
from typing import Any

from redis.exceptions import ResponseError

from ..locks import SafeLock
from ..stores import Register
from ..story import Param, Story
from ._actors import TTL
from .fencing import leave

SCRIPTS = {
    "hash": """
-- extend: if the hash has our field
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 0
""".strip(),
    "string": """
-- extend: if the value is our token
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 0
""".strip(),
}


def renewed_by_script(me: Any, p: SimpleNamespace, lease: Any, over: threading.Event) -> None:
    """A task in the background, as libraries have it: every third of the TTL, and nobody hears of its errors."""
    redis = me.redis()
    while not over.wait(p.ttl / 3):
        try:
            redis.eval(SCRIPTS[p.script], 1, lease.name, lease.token, int(p.ttl * 1000))
        except ResponseError as error:
            me.note(f"{me.name}'s renewal is told: {str(error).partition(' ')[0]}")


def works_long(me: Any, p: SimpleNamespace) -> None:
    """A: reads, works longer than a lease lasts, and trusts that it is renewed."""
    lock, sold = me.lock(SafeLock(me.redis(), "stock", p.ttl, poll=0.5)), me.store(Register(me.redis(), "sold"))
    lease, over = lock.acquire(60.0), threading.Event()
    threading.Thread(target=renewed_by_script, args=(me, p, lease, over), daemon=True).start()
    seen = sold.read()
    time.sleep(p.work)
    sold.write(seen + 1)
    over.set()
    leave(me, lock, lease)


def sells_one(me: Any, p: SimpleNamespace) -> None:
    """B: wants the lock from the first second on, and has little to do."""
    time.sleep(0.5)
    lock, sold = me.lock(SafeLock(me.redis(), "stock", p.ttl, poll=0.5)), me.store(Register(me.redis(), "sold"))
    lease = lock.acquire(120.0)
    seen = sold.read()
    time.sleep(1.0)
    sold.write(seen + 1)
    leave(me, lock, lease)


wrong_type = Story(
    name="wrong-type",
    claim="A renews a lock that is a string by a script that looks into a hash. Does it get more time?",
    params={
        "script": Param("hash", choices=tuple(SCRIPTS), unit="", label="the script looks for a"),
        "ttl": TTL,
        "work": Param(14.0, 0.0, 60.0, 0.5, label="A works for"),
    },
    actors={"A": works_long, "B": sells_one},
    until=300.0,
)
