"""RenewByNameLock: a watchdog that gives the key of this name more time, whoever has it by then.

The lock is taken and given back as it should be; only the renewal does not compare (erratum E11: whose lock is it?). It
fails where a renewal comes late: the lock it prolongs is the next holder's, and stays his after he has died.
"""

from __future__ import annotations

import time
from typing import Any

from ..lease import Lease, LeaseLost, drift
from ..safe import SafeLock
from ..watchdog import WatchdogLock

CAUGHT_BY = "own_renewal"


class RenewedByName(SafeLock):
    """As SafeLock, but an extension is a bare PEXPIRE."""

    def extend(self, lease: Lease) -> Lease:
        token, sent = self._token_of(lease), time.monotonic()
        if not self.client.pexpire(self.name, self._ms):
            raise LeaseLost("expired", self.name)
        return Lease(self.name, token, None, sent + self.ttl - drift(self.ttl))


class RenewByNameLock(WatchdogLock):
    """As WatchdogLock over RenewedByName."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **({"kind": RenewedByName} | options))
