"""RenewAfterUnlockLock: a watchdog whose renewal looks at a flag of its own, and then writes.

The flag says «not released yet» when the renewal leaves, and the release passes it on the way: cancelling races with
renewing. What arrives after the release takes the lock anew for nobody, or takes it from the next holder. It fails
where a renewal stays in the network a little longer than the rest of the work takes.
"""

from __future__ import annotations

import time
from typing import Any

from ..lease import Lease, drift
from ..safe import SafeLock
from ..watchdog import WatchdogLock

CAUGHT_BY = "own_renewal"


class WrittenAnew(SafeLock):
    """As SafeLock, but an extension writes the token again instead of comparing it."""

    def extend(self, lease: Lease) -> Lease:
        token, sent = self._token_of(lease), time.monotonic()
        self.client.set(self.name, token, px=self._ms)
        return Lease(self.name, token, None, sent + self.ttl - drift(self.ttl))


class RenewAfterUnlockLock(WatchdogLock):
    """As WatchdogLock over WrittenAnew."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **({"kind": WrittenAnew} | options))
