"""etcd as a server of the world: leases by the monotonic clock, watches from a revision, and the keys of `etcdkeys`.

One server stands for a whole cluster: what it has acknowledged is on the disks of a quorum, so neither a restart nor a
new leader loses it, and every read is linearizable. A lease ends exactly at its time, which is the earliest that a real
one may: etcd looks twice a second. A step of a wall clock means nothing to it; who leads anew gives every lease its
whole time again, and an election on top, as etcd does. Not here: users, compaction, reads of a member that lags, and
what `etcdkeys` names.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .data import Author, Copied, News
from .etcdkeys import (
    EXISTS,
    NO_CALL,
    NOT_FOUND,
    TOO_LARGE,
    Entry,
    Keys,
    Refused,
    fields,
    given,
)
from .etcdsession import Session
from .hub import MICRO

if TYPE_CHECKING:
    from .server import Server

MIN_TTL = 2  # seconds: one and a half election time-outs of one second, rounded up
MAX_TTL = 9_000_000_000
ELECTION = MICRO  # what a new leader adds to each lease
CALLS = {  # the gateway's paths, and the word by which a request goes in a timeline
    "/v3/kv/range": "RANGE",
    "/v3/kv/put": "PUT",
    "/v3/kv/deleterange": "DELETE",
    "/v3/kv/txn": "TXN",
    "/v3/lease/grant": "GRANT",
    "/v3/lease/keepalive": "KEEPALIVE",
    "/v3/lease/revoke": "REVOKE",
    "/v3/lease/timetolive": "TIMETOLIVE",
    "/v3/watch": "WATCH",
}
SINGLE = {"RANGE": "range", "PUT": "put", "DELETE": "delete_range"}


@dataclass(slots=True)
class Granted:
    """A lease. ttl: in seconds.  due: the microsecond at which it ends.  timer: the hub's entry for that."""

    number: int
    ttl: int
    due: int
    timer: list[Any]


class Etcd:
    """For `world.service("etcd", Etcd)`. A lock, for the timeline, is what stands before the last "/" of a key with a
    lease; whose key of that prefix is the oldest has it. A key without a lease is itself."""

    lasting = True

    def __init__(self, server: Server) -> None:
        self.server = server
        self.keys = Keys(lambda number: number in self.leases)
        self.leases: dict[int, Granted] = {}
        self._numbers = 1000  # of leases; etcd's are large and random
        self._told = 0  # how much of the history `news` has told
        self._locks: set[bytes] = set()

    # -- what a server asks of its database ----------------------------------------------------------------------

    def session(self) -> Session:
        return Session(self)

    def news(self) -> Iterator[News]:
        """Of each lock that a change may have touched, its holder; of a key without a lease, its value."""
        changes = self.keys.history[self._told :]
        self._told += len(changes)
        self._locks |= {_lock(entry.key) for _, entry, _ in changes if entry.lease}
        for key in dict.fromkeys(entry.key for _, entry, _ in changes):
            name = _lock(key)
            if name not in self._locks:
                entry = self.keys.entries.get(key)
                yield _shown(key), _shown(entry.value) if entry else None, None, None
            elif (first := self._holder(name)) is not None:
                yield _shown(name), _shown(first.key), None, first.author
            else:
                yield _shown(name), None, None, None

    def _holder(self, name: bytes) -> Entry | None:
        queue = [entry for entry in self.keys.entries.values() if entry.lease and _lock(entry.key) == name]
        return min(queue, key=lambda entry: entry.create_revision, default=None)

    def until(self, name: str) -> float | None:
        """When the holder of a lock will lose it by what is known now, in seconds of the run; None for another key."""
        first = self._holder(name.encode()) if name.encode() in self._locks else None
        return self.leases[first.lease].due / MICRO if first else None

    def restarted(self, keep_data: bool) -> Etcd:
        """With its data, a new leader: it does not know how much of each lease is over, so none is. Without, the disks
        of a quorum have been wiped."""
        fresh = Etcd(self.server)
        if keep_data:
            fresh.keys, fresh._numbers, fresh._told, fresh._locks = self.keys, self._numbers, self._told, self._locks
            fresh.keys.is_lease = lambda number: number in fresh.leases
            for lease in self.leases.values():
                fresh._arm(lease.number, lease.ttl, ELECTION)
        return fresh

    def delete(self, name: str) -> None:
        """Somebody removes a key, or the holder's key of a lock, by hand."""
        key = name.encode()
        if (entry := self._holder(key) if key in self._locks else self.keys.entries.get(key)) is not None:
            self.keys.remove(entry)
            self.keys.commit()

    def copies(self, names: Collection[str]) -> dict[str, Copied]:
        raise ValueError("A server that stands for an etcd cluster has no replicas: its members are in it.")

    def put(self, number: int, key: bytes, item: Any) -> None:
        raise ValueError("A server that stands for an etcd cluster is nobody's replica: its members are in it.")

    # -- calls -------------------------------------------------------------------------------------------------

    def call(self, name: str, body: dict[str, Any], author: Author) -> dict[str, Any]:
        """The answer to one request that is no watch. Raises Refused."""
        if name in SINGLE:
            return self.keys.single(SINGLE[name], body, author)
        if name == "TXN":
            return self.keys.txn(body, author)
        calls = {"GRANT": self._grant, "KEEPALIVE": self._keep_alive, "REVOKE": self._revoke, "TIMETOLIVE": self._time}
        if name not in calls:
            raise Refused(f"This model of etcd has no call {name!r}; it has {', '.join(CALLS.values())}.", NO_CALL)
        return calls[name](body)

    def _grant(self, body: dict[str, Any]) -> dict[str, Any]:
        asked = fields("grant", body, {"TTL": int, "ID": int})
        if asked.TTL > MAX_TTL:
            raise Refused("etcdserver: too large lease TTL", TOO_LARGE)
        if asked.ID in self.leases:
            raise Refused("etcdserver: lease already exists", EXISTS)
        if not asked.ID:
            self._numbers += 1
        lease = self._arm(asked.ID or self._numbers, max(asked.TTL, MIN_TTL))
        return given(ID=lease.number, TTL=lease.ttl) | self.keys.header()

    def _keep_alive(self, body: dict[str, Any]) -> dict[str, Any]:
        """A stream of its own at the gateway, hence `result`; of a lease that is gone, no TTL."""
        number = fields("keepalive", body, {"ID": int}).ID
        lease = self.leases.get(number)
        if lease is not None:
            self._arm(number, lease.ttl)
        return {"result": given(ID=number, TTL=lease.ttl if lease else 0) | self.keys.header()}

    def _revoke(self, body: dict[str, Any]) -> dict[str, Any]:
        number = fields("revoke", body, {"ID": int}).ID
        if number not in self.leases:
            raise Refused("etcdserver: requested lease not found", NOT_FOUND)
        self._end(number)
        return self.keys.header()

    def _time(self, body: dict[str, Any]) -> dict[str, Any]:
        asked = fields("timetolive", body, {"ID": int, "keys": bool})
        lease = self.leases.get(asked.ID)
        if lease is None:
            return {"ID": str(asked.ID), "TTL": "-1"} | self.keys.header()
        left = (lease.due - self.server.world.hub.now) // MICRO
        keys = [entry.told()["key"] for entry in self._of(asked.ID)] if asked.keys else []
        return given(ID=asked.ID, TTL=left, grantedTTL=lease.ttl, keys=keys) | self.keys.header()

    # -- leases ------------------------------------------------------------------------------------------------

    def _arm(self, number: int, ttl: int, more: int = 0) -> Granted:
        """A lease's whole time from now on."""
        hub = self.server.world.hub
        if number in self.leases:
            hub.cancel(self.leases[number].timer)
        due = hub.now + ttl * MICRO + more
        lease = self.leases[number] = Granted(number, ttl, due, hub.at(due, self._run_out, number))
        return lease

    def _run_out(self, number: int) -> None:
        """A lease's time is over, unless nobody leads now, or somebody else has led since. A leader that stood still
        hears first what has come meanwhile."""
        if not self.server.up or self.server.database is not self:
            return
        if self.server.paused:
            later = self.server.paused_until + 1
            self.leases[number].timer = self.server.world.hub.at(later, self._run_out, number)
            return
        gone = self._end(number)
        if gone:
            self.server.stir("expire", ", ".join(_shown(entry.key) for entry in gone))

    def _end(self, number: int) -> list[Entry]:
        """The lease is gone and its keys with it, in one revision."""
        self.server.world.hub.cancel(self.leases.pop(number).timer)
        gone = self._of(number)
        for entry in gone:
            self.keys.remove(entry)
        self.keys.commit()
        return gone

    def _of(self, number: int) -> list[Entry]:
        """The keys that hang on a lease."""
        return [entry for _, entry in sorted(self.keys.entries.items()) if entry.lease == number]


def _lock(key: bytes) -> bytes:
    return key.rpartition(b"/")[0]


def _shown(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")
