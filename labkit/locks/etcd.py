"""EtcdLock: a queue of keys in etcd. Whose key has the lowest create revision holds; each waits for the one before it.

etcd acknowledges what a majority has on disk, so no failover forgets a grant; its leases run by no wall clock.
Waiting is first come, first served, by a watch on one key: a release wakes one waiter. Whoever has waited looks for its
own key before it believes (etcd's own client did not until 2020: then a holder could be one whose key was long gone).
As with every lease, a holder that stands still may be late: `compare` goes into the transaction of a write to etcd,
`Lease.fence` (the create revision) to any other store. The lock alone protects nothing.
"""

from __future__ import annotations

import math
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace

from . import waiting
from .etcdclient import EtcdClient, EtcdError, KeyValue, LeaseGone, Operation, compare, delete, get, put
from .lease import Lease, LeaseLost, Misuse, check_name, check_timeout, drift, token_of

LONGEST = 9_000_000_000  # seconds that etcd grants at most


@dataclass(slots=True)
class Place:
    """A key of ours in the queue. beat: when its next keep-alive is due.  over: nobody needs it any more."""

    lease: Lease
    beat: float
    over: threading.Event = field(default_factory=threading.Event)


class EtcdLock:
    """A lock called `name`, by an EtcdClient. Its keys are `name/<number of a lease>`, so no other lock may have a name
    that begins with `name/`. `ttl`: seconds until the server takes it back, kept alive every third of it from a thread
    of its own until it is released, lost, or its owner thread has died. etcd counts whole seconds and may grant more
    (one and a half of its election time-outs at least). Raises ValueError, before any I/O, for a fraction of a second.

    One object may serve many threads: each acquisition has a key and a lease of its own."""

    def __init__(self, client: EtcdClient, name: str, ttl: float = 10) -> None:
        self.client, self.name, self.ttl = client, check_name(name), whole_seconds(ttl)
        self._held: dict[str, Place] = {}

    def try_acquire(self) -> Lease | None:
        """One look; a place in the queue is given up at once."""
        return self.acquire(0)

    def acquire(self, timeout: float | None = None) -> Lease | None:
        """Queues up, and waits for `timeout` seconds (0: one look, None: for ever), and two calls at most: one that is
        under way, and the one that takes its key out of the queue. Raises LeaseLost if our key is gone before our turn
        comes, as after a pause that was too long."""
        timeout = check_timeout(timeout)
        end = math.inf if timeout is None else time.monotonic() + timeout
        place = self._lease()
        try:
            ahead = self._queue_up(place)
            while ahead and time.monotonic() < end:
                ahead = self._wait(place, ahead, end)
            if ahead is None and self._timely(place):
                return self._granted(place)
        except BaseException:
            self._withdraw(place)
            raise
        self._withdraw(place)
        return None

    def extend(self, lease: Lease) -> Lease:
        """A full TTL from now on, for the same key. Raises LeaseLost if the server has taken it back."""
        token = token_of(lease, self.name)
        place = self._held.get(token) or Place(lease, 0.0)
        try:
            self._keep_alive(place)
        except LeaseLost:
            self._forget(token)
            raise
        return place.lease

    def release(self, lease: Lease) -> None:
        """Deletes our key, so that the next in the queue holds. Raises LeaseLost if it was gone: then exclusion did not
        last to the end (or this is the second try of a release whose answer was lost)."""
        self._forget(token_of(lease, self.name))
        first = get(self.name + "/", prefix=True, sort_order="ASCEND", sort_target="CREATE", limit=1)
        done = self.client.txn([self.compare(lease)], [delete(lease.token)], [first])
        if not done.succeeded:
            raise LeaseLost("stolen" if done.found[0] else "expired", self.name)
        with suppress(Exception):  # else a late copy of our first request could bring the key back for a while
            self.client.lease_revoke(_number(lease))

    hold = waiting.hold

    def holding(self, lease: Lease) -> bool:
        """Whether the lease has not run out by our own clock, with what the keep-alives have added. No more than a
        belief: it may be over before you act on it."""
        place = self._held.get(token_of(lease, self.name))
        return place is not None and place.lease.remaining() > 0

    def compare(self, lease: Lease) -> Operation:
        """The condition «still ours», for the transaction that writes what the lock protects, if that is in etcd."""
        return compare(lease.token, "CREATE", lease.fence or 0)

    # -- the queue ---------------------------------------------------------------------------------------------

    def _lease(self) -> Place:
        """A lease of etcd, on which our key will hang. Time counts from before the request left."""
        sent = time.monotonic()
        number, ttl = self.client.lease_grant(self.ttl)
        deadline = sent + ttl - drift(ttl)
        return Place(Lease(self.name, f"{self.name}/{number:x}", None, deadline), sent + self.ttl / 3)

    def _queue_up(self, place: Place) -> tuple[KeyValue, int] | None:
        """In one step: who is last in the queue, and our key behind it. None: nobody, so it is our turn."""
        token = place.lease.token
        last = get(self.name + "/", prefix=True, sort_order="DESCEND", sort_target="CREATE", limit=1)
        try:
            done = self.client.txn([compare(token, "CREATE", 0)], [last, put(token, lease=_number(place.lease))])
        except LeaseGone:  # the request was late
            raise LeaseLost("lost", self.name) from None
        if not done.succeeded:  # something between us and the server has sent it twice
            raise LeaseLost("lost", self.name)
        place.lease = replace(place.lease, fence=done.revision)
        return (done.found[0][0], done.revision) if done.found[0] else None

    def _wait(self, place: Place, ahead: tuple[KeyValue, int], end: float) -> tuple[KeyValue, int] | None:
        """Waits, and returns who is before us then. While there is no connection, or no answer to be used, our place is
        kept for as long as our lease lasts."""
        try:
            self._watch(place, ahead, end)
            return self._look(place)
        except (OSError, EtcdError, ValueError):  # the last one: what is between us and etcd has answered no JSON
            if self._timely(place):
                time.sleep(max(min(self.ttl / 20, 1.0, end - time.monotonic()), 0.0))
            return ahead

    def _watch(self, place: Place, ahead: tuple[KeyValue, int], end: float) -> None:
        """Until the key before ours is deleted, or `end`; but for one TTL at most, for a connection can be dead without
        a word. Ours is kept alive meanwhile."""
        key, revision = ahead
        end = min(end, time.monotonic() + self.ttl)
        with self.client.watch(key.key, revision + 1) as predecessor:
            while (now := time.monotonic()) < end:
                if predecessor.deleted(max(min(end, place.beat) - now, 0.0)):
                    return
                if place.beat <= time.monotonic():
                    self._keep_alive(place)

    def _look(self, place: Place) -> tuple[KeyValue, int] | None:
        """In one step: is our own key still there, and whose is before it? That our predecessor is gone says neither:
        it may have given up in the middle of the queue, and we may have slept over the end of our own lease."""
        before = {"max_create_revision": str((place.lease.fence or 0) - 1), "limit": 1}
        last = get(self.name + "/", prefix=True, sort_order="DESCEND", sort_target="CREATE", **before)
        done = self.client.txn([self.compare(place.lease)], [last])
        if not done.succeeded:
            raise LeaseLost("lost", self.name)
        return (done.found[0][0], done.revision) if done.found[0] else None

    def _timely(self, place: Place) -> bool:
        """True. Raises LeaseLost once our own clock says that the lease may be over."""
        if not place.lease.remaining():
            raise LeaseLost("lost", self.name)
        return True

    def _withdraw(self, place: Place) -> None:
        """Takes our key out of the queue, or keeps a late request from putting it there; at worst it runs out."""
        with suppress(Exception):
            self.client.lease_revoke(_number(place.lease))

    # -- keeping alive -----------------------------------------------------------------------------------------

    def _granted(self, place: Place) -> Lease:
        self._held[place.lease.token] = place
        threading.Thread(target=self._keep, args=(place, threading.current_thread()), daemon=True).start()
        return place.lease

    def _keep(self, place: Place, owner: threading.Thread) -> None:
        """The life of the thread that keeps a grant alive. A loss is the end. Any error is tried again, for nobody
        would see it here, until our own clock says that the lease may be over."""
        while not place.over.wait(max(place.beat - time.monotonic(), 0.0)) and owner.is_alive():
            try:
                self._timely(place)
                self.extend(place.lease)
            except LeaseLost:
                self._forget(place.lease.token)
            except Exception:
                place.beat = time.monotonic() + self.ttl / 3

    def _forget(self, token: str) -> None:
        """A grant of ours is over: nobody believes in it, nor keeps it alive."""
        if place := self._held.pop(token, None):
            place.over.set()

    def _keep_alive(self, place: Place) -> None:
        """Notes the new deadline, counted from before the request left. Raises LeaseLost if the lease is gone."""
        sent = time.monotonic()
        ttl = self.client.lease_keep_alive(_number(place.lease))
        if not ttl:
            raise LeaseLost("lost", self.name)
        place.lease, place.beat = replace(place.lease, deadline=sent + ttl - drift(ttl)), sent + self.ttl / 3


def whole_seconds(ttl: float) -> int:
    """A TTL as etcd counts it. Raises ValueError for anything but whole seconds from 1 on."""
    if isinstance(ttl, bool) or not isinstance(ttl, (int, float)) or not 1 <= ttl <= LONGEST or ttl != int(ttl):
        raise ValueError(f"ttl={ttl!r} is no TTL of etcd: give whole seconds, from 1 to {LONGEST}.")
    return int(ttl)


def _number(lease: Lease) -> int:
    """The lease of etcd that a grant hangs on: it stands in the key. Raises Misuse for a key that is not ours."""
    try:
        return int(lease.token.removeprefix(lease.name + "/"), 16)
    except ValueError:
        raise Misuse(f"{lease.token!r} is no key that the lock {lease.name!r} has made.") from None
