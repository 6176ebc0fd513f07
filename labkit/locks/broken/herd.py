"""HerdLock: the queue of ZooKeeperLock, but each waiter watches the holder, the first in the queue (E90).

It is safe, and fair. But with n waiters each release wakes n, of whom n − 1 find that it was not for them, ask for the
queue and watch again: about n²/2 wake-ups until all have had their turn, all on the ensemble that is to grant the next
lock.
"""

from __future__ import annotations

from ..zookeeper import ZooKeeperLock

CAUGHT_BY = "wake-ups a release"  # nothing that it does is wrong: it is counted, not judged


class HerdLock(ZooKeeperLock):
    """As ZooKeeperLock, with another one to wait for."""

    @staticmethod
    def _whom(ahead: list[str]) -> str:
        return ahead[0]  # all wait for the same
