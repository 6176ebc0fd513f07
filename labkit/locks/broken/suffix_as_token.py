"""SuffixTokenLock: a sound lock whose fencing token is the number in its node's name (E93).

The number grows from one child to the next, and so passes for a token; but it is the parent's count of its children.
Where the parent is deleted while the queue is empty, as a container is, it starts again at 0: then a zombie's old token
beats the new holder's. The czxid of the same node comes from the ensemble's own log and never starts again.
"""

from __future__ import annotations

from dataclasses import replace

from ..lease import Lease
from ..zookeeper import ZooKeeperLock

CAUGHT_BY = "no_stale_write"


class SuffixTokenLock(ZooKeeperLock):
    """As ZooKeeperLock, with another token. One more than the number, for stores that begin at 1."""

    def acquire(self, timeout: float | None = None) -> Lease | None:
        lease = super().acquire(timeout)
        return None if lease is None else replace(lease, fence=int(lease.token[-10:]) + 1)
