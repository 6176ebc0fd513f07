"""GhostLock: a value for each acquisition and a compare-and-delete, as in most textbooks, and still not finished
(erratum E05). It takes a nil for «somebody else has it» and a 0 for «I have lost it». It fails where a reply is lost:
the client library sends the command again, and the lock meets what its own first copy has done.
"""

from __future__ import annotations

import time

from ..lease import Lease, LeaseLost, drift
from ..safe import SafeLock

CAUGHT_BY = "honest"
COMPARE_AND_DELETE = """
-- unlock: as in the article
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) else return 0 end
""".strip()


class GhostLock(SafeLock):
    """As SafeLock, but no reply is looked at twice."""

    def try_acquire(self) -> Lease | None:
        token, sent = self._new_token(), time.monotonic()
        if not self.client.set(self.name, token, nx=True, px=self._ms):
            return None
        return Lease(self.name, token, None, sent + self.ttl - drift(self.ttl))

    def release(self, lease: Lease) -> None:
        if not self.client.eval(COMPARE_AND_DELETE, 1, self.name, lease.token):
            raise LeaseLost("lost", self.name)
