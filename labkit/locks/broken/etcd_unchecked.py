"""UncheckedEtcdLock: whoever has waited takes the news that the one before it is gone for the lock.

etcd's own client did so until 2020 (Jepsen's analysis of etcd 3.4.3 found it). It fails where the waiter's own key is
gone by then, because it stood still for longer than its lease, or its keep-alives were lost: somebody else has queued
up since, is first, and holds.
"""

from __future__ import annotations

import time
from dataclasses import replace

from ..etcd import EtcdLock, Place
from ..etcdclient import KeyValue, get

CAUGHT_BY = "exclusive_grants"


class UncheckedEtcdLock(EtcdLock):
    """As EtcdLock, without a look at its own key; it counts its time from the news."""

    def _look(self, place: Place) -> tuple[KeyValue, int] | None:
        before = {"max_create_revision": str((place.lease.fence or 0) - 1), "limit": 1}
        last = get(self.name + "/", prefix=True, sort_order="DESCEND", sort_target="CREATE", **before)
        done = self.client.txn([], [last])  # … and if our own key is not there?
        place.lease = replace(place.lease, deadline=time.monotonic() + self.ttl)
        return (done.found[0][0], done.revision) if done.found[0] else None
