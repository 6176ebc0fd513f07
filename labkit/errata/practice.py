"""Section seven of the article: which lock for which task, and the traps of daily use."""

from __future__ import annotations

from .erratum import Erratum, played

TRAPS = "notebook 07, “3 · Four traps, and what the article makes of them”"

ERRATA = [
    Erratum(
        number="E50",
        grade=3,
        section="7.1, the middle tier",
        claim="The state of an order is safe under Redlock, if the change is idempotent.",
        truth="The database of the order decides: UPDATE … WHERE id = ? AND status = 'UNPAID'. To set PAID twice does "
        "no harm; to set it late does.",
        where="notebook 07, “1 · Efficiency or correctness, once more”",
        wrong=played("order-state", "no_lost_update", update="plain"),
        right=played("order-state", "no_lost_update", update="conditional"),
        source="M. Kleppmann, «How to do distributed locking», on Redlock as a choice; Redisson deprecates its "
        "RedLock (issue 2669).",
    ),
    Erratum(
        number="E51",
        grade=2,
        section="7.1, the top tier, and 1",
        claim="To deduct stock takes the strongest lock, the stronger the more concurrency there is.",
        truth="It takes none: UPDATE … SET n = n - 1 WHERE sku = ? AND n >= 1 sells each piece once, whoever stands "
        "still.",
        where=f"{TRAPS}; notebook 01, “6 · Do you need a lock at all?”",
        wrong=played("last-piece", "once", by="lock"),
        right=played("last-piece", "once", by="statement"),
    ),
    Erratum(
        number="E52",
        grade=2,
        section="7.2, trap two",
        claim="A slow call inside the lock lets it expire, so make the call outside.",
        truth="A renewed lock (the article's section 3) outlasts the call. Outside, what the call said may be stale: "
        "check again, in the statement that writes.",
        where=TRAPS,
        wrong=played("slow-call", "no_lost_update", call="before"),
        right=played("slow-call", "no_lost_update", call="checked"),
    ),
    Erratum(
        number="E53",
        grade=2,
        section="7.2, trap one",
        claim="The finer the key the better: a lock for each order.",
        truth="A lock protects what it is named after. Two orders share an item, so the key is the item; who needs "
        "several takes them in one fixed order (story crossed-locks).",
        where=f"notebook 01, “7 · A key for each what?”; {TRAPS}",
        wrong=played("finer-keys", "no_lost_update", keys="order"),
        right=played("finer-keys", "no_lost_update", keys="sku"),
    ),
    Erratum(
        number="E54",
        grade=2,
        section="7.2, trap four",
        claim="Who locks three times and unlocks twice has not released the lock.",
        truth="Worse: under a watchdog it is renewed for as long as the owner lives, and nobody else gets it. Leave "
        "as often as you came in, by a block that does it for you.",
        where=f"{TRAPS}; notebook 03, “8 · Coming in twice”",
        wrong=played("forgotten-unlock", "not_stuck", unlocks=2),
        right=played("forgotten-unlock", "not_stuck", unlocks=3),
        source="Of Redisson not run here: its owner is the client's id and the thread's id, so a callback on another "
        "thread cannot unlock (its documentation of RLock).",
    ),
]
