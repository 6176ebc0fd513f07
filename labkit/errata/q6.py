"""Question six of the article: ZooKeeper's lock beside that of Redis."""

from __future__ import annotations

from ..stories.herd import wake_ups
from ..timeline import Timeline
from .erratum import Erratum, Shown, compared, played
from .telling import found_in


def wakes_one(timeline: Timeline) -> Shown:
    """Whether a release wakes one waiter, however many wait."""
    woken = wake_ups(timeline)
    return compared(max(woken) == 1, f"{len(woken)} waiters; the releases wake {', '.join(map(str, woken))} of them.")


LATE = {"tape": "pause.A.7=1"}  # A stands still for longer than its session lasts, then writes

ERRATA = [
    Erratum(
        number="E90",
        grade=3,
        section="8, Q6",
        claim="ZooKeeper's lock by ephemeral sequential nodes wakes all waiters at each release: the herd effect.",
        truth="That is the lock on a single node. In the sequential recipe each waits for the node before its own, and "
        "a release wakes one.",
        where="notebook 07, exercise q6",
        wrong=found_in("herd", wakes_one, recipe="herd", waiters=20),
        right=found_in("herd", wakes_one, recipe="predecessor", waiters=20),
        source="ZooKeeper's page of recipes; Curator's InterProcessMutex. The same counts come from a real server.",
    ),
    Erratum(
        number="E91",
        grade=2,
        section="8, Q6",
        claim="ZooKeeper takes 10 to 50 ms, Redis 0.1 to 1 ms.",
        truth="Unsourced, and unlike things: a majority that has written to disk beside one server's memory. Redis "
        "with WAIT or fsync is slower too. Measure like with like, on your machines.",
        where="exercise q6",
        source="Virtual time has no disk: nothing to measure here. For scale: etcd's own performance page has 1.6 ms "
        "as the average of its sequential writes.",
    ),
    Erratum(
        number="E92",
        grade=2,
        section="8, Q6",
        claim="ZooKeeper's protocol makes it linearizable.",
        truth="Its writes are; a read may be of the past, for any member answers it, unless sync comes first. The "
        "order in the recipe comes from the create, which is a write; but whoever looks for the own node after a lost "
        "reply has to sync first, or a member that lags behind does not show it, and the client queues up twice.",
        where="exercise q6",
        source="The model answers from one copy, so it has no stale read to show. ZooKeeper's page on its consistency "
        "guarantees says so.",
    ),
    Erratum(
        number="E93",
        grade=3,
        section="8, Q6",
        claim="ZooKeeper's lock is the strongly consistent one, so there is nothing to add for correctness.",
        truth="A session ends while its client stands still, as a lease does: two believe, and a late write comes. The "
        "czxid of the own node is a fencing token; the store has to compare it.",
        where="notebook 07, exercise q6",
        wrong=played("increment", "no_stale_write", row="R8", **LATE),
        right=played("increment", "no_stale_write", row="R8-czxid", **LATE),
        source="Curator's Tech Note 10; Junqueira's note on fencing; Jepsen's report on etcd 3.4.3, for etcd's lock.",
    ),
]
