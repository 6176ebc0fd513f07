"""PlainDelLock: SET NX PX to acquire, DEL to release. It fails where a holder outlives its lease: its DEL then removes
the lock of whoever holds it by now.
"""

from __future__ import annotations

from ..lease import Lease
from ..safe import SafeLock

CAUGHT_BY = "own_release"


class PlainDelLock(SafeLock):
    """As SafeLock, but release does not look whose lock it deletes."""

    def release(self, lease: Lease) -> None:
        self.client.delete(self.name)
