"""What `choose` can name: ways to keep two from doing harm. Half of them take no lock.

A scheme with `rows` is played in the safety matrix under these names. One without is no lock, or has no row: then its
sentence says where it was run, or whose word it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Scheme:
    """says: what it is, in a few words.  why: why it, a sentence.  rows: of the matrix.  instead: where no lock is the
    answer, what to do instead of one.  leave, queue: what to know of those who come again, or wait in order."""

    name: str
    says: str
    why: str
    rows: tuple[str, ...] = ()
    instead: str = ""
    leave: str = "Whoever is refused reads again, then tries again or gives up."
    queue: str = "Who must be served in order goes into a queue, with one worker for each key."

    @property
    def kind(self) -> str:
        """Whether it is a lock, makes one needless, or is for where none is enough."""
        if not self.instead:
            return "lock"
        return "none is enough" if self.name == "gate" else "no lock"


POLLS = {
    "leave": "Others ask again after a random pause, and give up in bounded time.",
    "queue": "Those who wait come in no order; ZooKeeper and etcd have a queue, at the price of dead waiters.",
}
IN_LINE = {
    "leave": "Wait in bounded time; whoever gives up takes its entry out of the queue.",
    "queue": "Each waits for the one before it: a release wakes one, and a dead waiter costs up to its session.",
}

_ALL = (
    Scheme(
        "statement",
        "one conditional statement",
        "Where looking and writing are one atomic step, nothing can come in between.",
        instead="UPDATE … SET n = n - 1 WHERE sku = ? AND n >= 1, UPDATE … WHERE state = 'UNPAID', an INSERT under a "
        "unique constraint, a PUT with If-None-Match. No row changed: somebody else was first.",
    ),
    Scheme(
        "version",
        "compare and set on a version",
        "The database holds the data, so it can tell by the version that it read them with whether they are the same.",
        rows=("R10",),
        instead="Read it with its version, think, UPDATE … SET …, version = version + 1 WHERE id = ? AND version = ?.",
        queue="Where many meet on one row, each but one works in vain; let the database queue them, or a worker for "
        "each key.",
    ),
    Scheme(
        "row-lock",
        "a row locked in its own transaction",
        "The database queues those who wait, and if it gives up on a holder, the holder's writes go with the lock. "
        "Not run here: the manuals of MySQL and PostgreSQL say so of SELECT … FOR UPDATE.",
        instead="BEGIN, SELECT … FOR UPDATE, UPDATE …, COMMIT. Of a table of jobs each worker takes a row that nobody "
        "has locked: SKIP LOCKED. Nothing slow in between.",
        queue="The database's own queue, bounded by its lock time-out.",
    ),
    Scheme(
        "claim",
        "a claimed row: owner, version, lease",
        "To claim a row is to write into it who works on it, until when, and a version one higher. Claim, end and "
        "result are in one database, and completion checks (version, owner).",
        rows=("R10",),
        **POLLS,
    ),
    Scheme(
        "check-and-set",
        "check and set at the store, and no strong lock",
        "The store refuses whoever has not seen the last write; that is all that you need (notebook 06, the crowd).",
        instead="Write with a condition: If-Match and an ETag, SET … IFEQ, a transaction that compares. A lock before "
        "it saves attempts, not data.",
    ),
    Scheme(
        "fenced",
        "a fenced lock, and a store that registers the token",
        "The number comes with the grant, the holder registers it before it reads, and the store compares number and "
        "owner with each write.",
        rows=("R6b",),
        **POLLS,
    ),
    Scheme(
        "fenced-queue",
        "a queue of ZooKeeper's or etcd's, and a store that registers its number",
        "The grant survives failovers and restarts, its number never goes back (ZooKeeper's czxid, etcd's create "
        "revision: the number of the change that made the own entry), and the store compares it.",
        rows=("R8-czxid", "R9-revision"),
        **IN_LINE,
    ),
    Scheme(
        "key",
        "an idempotency key, and an outbox",
        "A crash between the effect and its record repeats the effect under every lock; only the receiver can tell a "
        "repetition.",
        instead="In one transaction with your data write down what is to be sent, under a key made from what it is "
        "for (task and planned time); one sender sends until it is confirmed.",
        queue="The outbox is the queue: one sender for each receiver keeps the order.",
    ),
    Scheme(
        "gate",
        "no lock is enough: put something that checks in front",
        "Against a pause no lock service protects what cannot refuse.",
        instead="Let one process, or one table, be the only way there: it takes requests with a version or a key, and "
        "refuses. If that cannot be, a lock with a margin for the bounds that you can name makes harm rare (notebook "
        "06, three bounds); find it by reconciling, and say so.",
        leave="Whoever is refused at the gate is told so.",
        queue="The gate's queue is the order.",
    ),
    Scheme(
        "redis",
        "one Redis server: SET NX PX, compare and delete",
        "A double run costs work, a dead holder only a TTL, and nobody deletes another's lock.",
        rows=("R3",),
        **POLLS,
    ),
    Scheme(
        "watchdog",
        "one Redis server, and a watchdog that renews",
        "A short lease is freed soon after a crash, and renewal lets the work take its time.",
        rows=("R4",),
        **POLLS,
    ),
    Scheme(
        "line",
        "a queue of ZooKeeper's or etcd's",
        "It is there, it frees the lock when a session ends, and it is fair.",
        rows=("R8", "R9"),
        **IN_LINE,
    ),
)
SCHEMES: Mapping[str, Scheme] = {scheme.name: scheme for scheme in _ALL}
