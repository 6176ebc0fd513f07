"""SeedRedlock: Redlock as pseudo-code has it, short enough for a slide (errata E30 to E33 and E36).

The nodes are asked one after the other, each for as long as its client waits; the time that this takes is measured with
a wall clock; the drift of the servers' clocks is left out; and the clean-up stops at the first node that is down. It
fails where one slow node and a clock that is set back meet: the lease is counted from a start that never was.
"""

from __future__ import annotations

import time
from contextlib import suppress

from redis.exceptions import RedisError

from ..lease import Lease
from ..redlock import Redlock
from .ghost import COMPARE_AND_DELETE

CAUGHT_BY = "exclusive_grants"


class SeedRedlock(Redlock):
    """Kinder than its source in three things: each try has a value of its own, the grant is a lease with what the code
    takes for its validity (there it is a bare true, and the caller may rely on it for as long as he likes), and it can
    be released (there nothing is, after a success)."""

    def try_acquire(self) -> Lease | None:
        token, start, votes = self._new_token(), time.time(), 0
        for client in self.nodes.clients:
            with suppress(RedisError):
                votes += bool(client.set(self.name, token, nx=True, px=self._ms))
        validity = self.ttl - (time.time() - start)
        lease = Lease(self.name, token, None, time.monotonic() + validity)
        if votes >= self.nodes.majority and validity > 0:
            return lease
        self.release(lease)
        return None

    def release(self, lease: Lease) -> None:
        for client in self.nodes.clients:
            client.eval(COMPARE_AND_DELETE, 1, self.name, lease.token)
