"""OptimisticLock: a row of a database is the lock, and the data it protects are in the same row.

A claim writes three things: a version that grows, the owner, and until when the claim lasts. Every later write compares
version and owner in the statement that writes. So the clock decides only when somebody else may try: what a late holder
writes is refused whatever the clocks say, and a claim that has run out may be completed as long as nobody has taken it.
The owner is compared because a failover that forgets a claim lets the next one have the same version (E72). What leaves
the database, such as a letter sent, is not protected. A commit whose reply is lost is unknown: read the row.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from . import waiting
from .lease import Lease, LeaseLost, check_name, check_ttl, drift, token_of

TABLE = """CREATE TABLE IF NOT EXISTS leased (name TEXT PRIMARY KEY, version INTEGER NOT NULL, owner TEXT NOT NULL,
lease_until REAL NOT NULL, value INTEGER NOT NULL)"""
MINE = "WHERE name = ? AND version = ? AND owner = ?"


class OptimisticLock:
    """The row `name` of the table `leased`, by an SQLite connection that has no transaction open. `ttl`: seconds that a
    claim lasts; `poll`: seconds between two tries, at most. `clock`: what the claims of all clients are dated by, in
    seconds (default: the wall clock). Raises ValueError for a TTL below 3 ms."""

    def __init__(
        self, db: Any, name: str, ttl: float = 10.0, poll: float = 0.1, clock: Callable[[], float] | None = None
    ) -> None:
        self.db, self.name, self.ttl, self.poll = db, check_name(name), check_ttl(ttl), check_ttl(poll, "poll")
        self._clock = clock or (lambda: time.time())
        self._change(TABLE)
        self._change("INSERT OR IGNORE INTO leased VALUES (?, 0, '', 0, 0)", name)

    def try_acquire(self) -> Lease | None:
        """One try: claims the row if it is free, or if its claim has run out. `Lease.fence` is the version."""
        owner, sent, now = os.urandom(16).hex(), time.monotonic(), self._clock()
        claim = "UPDATE leased SET version = version + 1, owner = ?, lease_until = ? WHERE name = ? "
        claim += "AND (owner = '' OR lease_until <= ?)"
        if not self._change(claim, owner, now + self.ttl, self.name, now):
            return None
        found = self._row("version", "AND owner = ?", owner)
        lease = Lease(self.name, owner, found[0], sent + self.ttl - drift(self.ttl)) if found else None
        if lease is None or lease.remaining():
            return lease
        with suppress(LeaseLost):
            self.release(lease)  # the database took longer than the lease lasts
        return None

    def acquire(self, timeout: float | None = None) -> Lease | None:
        """Tries until it has the lock or `timeout` seconds have passed (0: one try, None: for ever)."""
        return waiting.poll(self.try_acquire, timeout, self.poll)

    def read(self) -> int:
        """The value in the row."""
        return int(self._row("value")[0])

    def write(self, value: int, lease: Lease) -> bool:
        """False: the row is claimed by somebody else by now, and nothing has changed."""
        return bool(self._mine("value = ?", lease, value))

    def complete(self, value: int, lease: Lease) -> None:
        """The last write and the release in one statement. Raises LeaseLost, and changes nothing, if it comes late."""
        self._owned("value = ?, owner = '', lease_until = 0", lease, value)

    def extend(self, lease: Lease) -> Lease:
        """A full TTL from now on, under the same version. Raises LeaseLost if the row is not ours any more."""
        sent = time.monotonic()
        self._owned("lease_until = ?", lease, self._clock() + self.ttl)
        return Lease(self.name, lease.token, lease.fence, sent + self.ttl - drift(self.ttl))

    def release(self, lease: Lease) -> None:
        """Frees the row. Raises LeaseLost if it was not ours any more, as after `complete`."""
        self._owned("owner = '', lease_until = 0", lease)

    hold = waiting.hold

    def reap(self) -> int:
        """Frees all rows of the table whose claims have run out, whoever's; returns how many. A claim does it for its
        own row; this is for those who look for rows that are free."""
        free = "UPDATE leased SET owner = '', lease_until = 0 WHERE owner <> '' AND lease_until <= ?"
        return self._change(free, self._clock())

    # -- the small steps ---------------------------------------------------------------------------------------

    def _owned(self, change: str, lease: Lease, *values: float) -> None:
        if not self._mine(change, lease, *values):
            raise LeaseLost("stolen" if self._row("owner")[0] else "expired", self.name)

    def _mine(self, change: str, lease: Lease, *values: float) -> int:
        token = token_of(lease, self.name)
        return self._change(f"UPDATE leased SET {change} {MINE}", *values, self.name, lease.fence, token)

    def _row(self, column: str, more: str = "", *values: Any) -> Any:
        return self.db.execute(f"SELECT {column} FROM leased WHERE name = ? {more}", (self.name, *values)).fetchone()

    def _change(self, statement: str, *values: Any) -> int:
        """One statement, one transaction; how many rows it has changed."""
        with self.db:
            return int(self.db.execute(statement, values).rowcount)
