"""SharedIdLock: one value for a client instead of one for each acquisition (erratum E04).

The compare-and-delete is there and does not help: two threads of one client carry the same value, so the late release
of the first passes for one of the second. It fails where an acquisition outlives its lease.
"""

from __future__ import annotations

import time
from typing import Any

from ..lease import Lease, drift
from ..safe import SafeLock

CAUGHT_BY = "own_release"


class SharedIdLock(SafeLock):
    """As SafeLock, but all that use this object share one token, drawn when it is made."""

    def __init__(self, client: Any, name: str, ttl: float = 10.0, poll: float = 0.1) -> None:
        super().__init__(client, name, ttl, poll)
        self.client_id = self._new_token()

    def try_acquire(self) -> Lease | None:
        sent = time.monotonic()
        if not self.client.set(self.name, self.client_id, nx=True, px=self._ms):
            return None
        return Lease(self.name, self.client_id, None, sent + self.ttl - drift(self.ttl))
