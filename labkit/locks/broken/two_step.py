"""TwoStepLock: SETNX first, EXPIRE second. It fails where a client dies in between: the key then never expires.

Common before Redis 2.6.12 (2012) gave SET its NX and PX options, and still seen where a library hides the two steps.
"""

from __future__ import annotations

import time

from ..lease import Lease, drift
from ..safe import SafeLock

CAUGHT_BY = "not_stuck"


class TwoStepLock(SafeLock):
    """As SafeLock, but the lock and its expiry are set by two commands."""

    def try_acquire(self) -> Lease | None:
        token, sent = self._new_token(), time.monotonic()
        if not self.client.setnx(self.name, token):
            return None
        self.client.pexpire(self.name, self._ms)  # who dies before this line …
        return Lease(self.name, token, None, sent + self.ttl - drift(self.ttl))
