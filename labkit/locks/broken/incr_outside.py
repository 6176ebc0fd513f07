"""IncrOutsideLock: a sound lock, and a counter that is asked for a token afterwards (E80).

Each number is new and higher than all before; but it says who came to the counter last, not who got the lock last. It
fails where a holder pauses between the two: it draws its token when the next holder has written already, and the store
takes the late one for the newer.
"""

from __future__ import annotations

from dataclasses import replace

from ..fenced import counter
from ..lease import Lease
from ..safe import SafeLock

CAUGHT_BY = "no_stale_write"


class IncrOutsideLock(SafeLock):
    """As SafeLock, and then an INCR."""

    @property
    def counter(self) -> str:
        return counter(self.name)

    def try_acquire(self) -> Lease | None:
        lease = super().try_acquire()
        if lease is None:
            return None
        return replace(lease, fence=int(self.client.incr(self.counter)))  # who is paused before this line …
