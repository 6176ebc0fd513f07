"""Section four of the article: where tokens come from, what the store compares, and what it then knows."""

from __future__ import annotations

import sqlite3
from functools import partial
from typing import Any

from redis.crc import key_slot
from redis.exceptions import ResponseError

from ..locks import FencedLock, Lease, Misuse, SeedFencedLock
from ..locks.fenced import counter
from ..stores import FencedRegister
from ..stores.broken import StrictRegister
from ..stories.pricing import prices
from ..timeline import Timeline
from .erratum import Erratum, Run, Shown, compared, played
from .telling import by_hand, fences, found_in, played_and


def second_write(timeline: Timeline) -> Shown:
    """Whether the store takes both writes of the one holder."""
    writes = [op for op in timeline.ops("write") if op.node == "A"]
    told = " and ".join(f"{op.args['value']} is {'accepted' if op.outcome == 'ok' else 'refused'}" for op in writes)
    return compared(all(op.outcome == "ok" for op in writes), f"Of A's two writes under one grant, {told}.")


def in_one_slot(lock: str, other: str, what: str) -> Run:
    """Whether a cluster may use both keys in one script."""

    def run() -> Shown:
        slots = key_slot(lock.encode()), key_slot(other.encode())
        why = f"{lock} is in slot {slots[0]}, {what} {other} in slot {slots[1]}: "
        same = slots[0] == slots[1]
        return compared(same, why + ("one node has both." if same else "a cluster refuses the script (CROSSSLOT)."))

    return run


def half_a_second(kind: Any, redis: Any) -> Shown:
    """Whether a lock of half a second can be had."""
    try:
        lease = kind(redis, "stock", 0.5).try_acquire()
    except (ResponseError, Misuse) as error:
        return compared(False, f"A lease of 0.5 s: the server says «{error}».")
    return compared(lease is not None, f"A lease of 0.5 s is granted; the key lives for {redis.pttl('stock')} ms.")


def beyond_doubles(kind: Any, redis: Any) -> Shown:
    """Whether a store takes 2^53 + 1 for newer than 2^53."""
    store, answers = kind(redis, "sold"), []
    for number in (2**53, 2**53 + 1):
        lease = Lease("stock", f"holder {number}", number, 0.0)
        answers.append(store.register(lease) and store.write(1, lease))
    told = "accepts" if answers[1] else "refuses"
    return compared(all(answers), f"After a write with token {2**53} the store {told} one with token {2**53 + 1}.")


def conditional(where: str) -> Run:
    """Whether a database as it is refuses the write of token 1 after that of token 2."""

    def run() -> Shown:
        db = sqlite3.connect(":memory:")
        db.execute("CREATE TABLE price (sku TEXT, number INTEGER, token INTEGER)")
        db.execute("INSERT INTO price VALUES ('tea', 0, 0)")
        for number, token in ((20, 2), (10, 1)):
            update = f"UPDATE price SET number = :number, token = :token WHERE sku = 'tea' {where}"
            db.execute(update, {"number": number, "token": token})
        ((number,),) = db.execute("SELECT number FROM price").fetchall()
        db.close()
        return compared(number == 20, f"Token 2 wrote 20, token 1 came late with 10; SQLite has {number}.")

    return run


def last_price(timeline: Timeline) -> str:
    return f"Each write came twice; the price was {', then '.join(prices(timeline))}."


ERRATA = [
    Erratum(
        number="E20",
        grade=3,
        section="4.2, the diagram",
        claim="As soon as B is granted token 2, the store has recorded it, and refuses A's 1.",
        truth="A store learns of a token from the first request that carries it. So B registers at the store before it "
        "reads.",
        where="notebook 04, “3 · Compare, and a hole”",
        wrong=played("late-write", "no_lost_update", store="write-only", pause=8.5),
        right=played("late-write", "no_lost_update", store="contract", pause=8.5),
        source="F. Junqueira, «Note on fencing and distributed locks»; Hazelcast and BookKeeper register first too.",
    ),
    Erratum(
        number="E21",
        grade=3,
        section="4.2 against 4.3",
        claim="The text accepts a token that is equal to the highest; the code accepts only a higher one.",
        truth="An equal token is accepted, from the same owner: else its second write under one grant is refused.",
        where="notebook 04, “4 · Higher, or not lower?”",
        wrong=found_in("two-steps", second_write, store="strict"),
        right=found_in("two-steps", second_write, store="contract"),
    ),
    Erratum(
        number="E22",
        grade=3,
        section="4.3",
        claim="INCR in Redis gives tokens that only grow.",
        truth="Not over a failover, which forgets what was not replicated: a number is given twice, or a lower one. "
        "Let the store compare token and owner.",
        where="notebook 04, “6 · Can a number come twice?”",
        wrong=played_and("repeated-token", "no_lost_update", fences, store="write-only"),
        right=played_and("repeated-token", "no_lost_update", fences, store="contract"),
        source="Redis documentation on replication; WAIT narrows the window and does not close it.",
    ),
    Erratum(
        number="E23",
        grade=3,
        section="4.3",
        claim="The counter of tokens is there for good.",
        truth="A flush, a restart without persistence, an eviction, or deleting the lock together with it resets it: "
        "old holders pass, or new ones are refused until it has caught up.",
        where="notebook 04, “6 · Can a number come twice?”",
        wrong=played_and("lost-counter", "no_lost_update", fences, store="write-only"),
        right=played_and("lost-counter", "no_lost_update", fences, store="contract"),
        source="Redisson's fenced lock deletes lock and token keys together (its source).",
    ),
    Erratum(
        number="E24",
        grade=2,
        section="4.3, the keys",
        claim="The counter's key is the lock's name and «:token», and the store's guard is made up inside the script.",
        truth="In a cluster these are other slots. Give all the same braces, and declare every key.",
        where="notebook 04, “2 · A number with each grant”",
        wrong=in_one_slot("lock", "lock:token", "its counter"),
        right=in_one_slot("lock", counter("lock"), "its counter"),
        source="Redis cluster specification, «Hash tags»; the slots are computed by redis-py.",
    ),
    Erratum(
        number="E25",
        grade=1,
        section="4.3, the TTL",
        claim="The TTL is in whole seconds (EX), where all else is in milliseconds.",
        truth="PX, as elsewhere. Half a second becomes 0, which the server refuses.",
        where="notebook 04, “2 · A number with each grant”",
        wrong=by_hand(partial(half_a_second, SeedFencedLock)),
        right=by_hand(partial(half_a_second, FencedLock)),
    ),
    Erratum(
        number="E26",
        grade=1,
        section="4.3, the numbers",
        claim="Tokens are compared by tonumber.",
        truth="Numbers of Lua are doubles: 2^53 and 2^53 + 1 are one. Compare as text, by length first.",
        where="story two-steps",
        wrong=by_hand(partial(beyond_doubles, StrictRegister)),
        right=by_hand(partial(beyond_doubles, FencedRegister)),
    ),
    Erratum(
        number="E27",
        grade=2,
        section="4.3",
        claim="Data and guard live in the same kind of Redis as the lock.",
        truth="A failover that forgets an accepted write forgets its guard too. The store must be stronger than the "
        "lock, for example have its replica written before it answers.",
        where="notebook 04, “10 · If the store cannot check”",
        wrong=played("weak-store", "no_stale_write", lag=2.0),
        right=played("weak-store", "no_stale_write", lag=0.0),
    ),
    Erratum(
        number="E28",
        grade=3,
        section="4.4",
        claim="In practice a sensible timeout and idempotency do instead of fencing.",
        truth="Idempotency stops repeats, not a write that comes late and is the first of its kind. The store has to "
        "compare who is newer.",
        where="notebook 04, “10 · If the store cannot check”",
        wrong=played_and("late-price", "no_stale_write", last_price, store="idempotent"),
        right=played_and("late-price", "no_stale_write", last_price, store="contract"),
    ),
    Erratum(
        number="E29",
        grade=1,
        section="4.4",
        claim="Fencing cannot be brought in without a change of the storage layer.",
        truth="One column and a conditional write will do, as the article's own question 4 shows; nearly every store "
        "has one.",
        where="notebook 04, “10 · If the store cannot check”",
        wrong=conditional(""),
        right=conditional("AND token <= :token"),
        source="Conditional writes: SQL, etcd, DynamoDB, S3, Google Cloud Storage, Azure Blob, Elasticsearch.",
    ),
]
