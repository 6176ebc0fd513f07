"""StopAtMajorityRedlock: a well-known answer to «node 3 times out, what now?» (errata E66 to E68).

It counts what can still be reached, which is right, and stops asking as soon as it has a majority, which is not: the
nodes that were never asked are anybody's. One restart among its bare three, and a rival has three as well; with all
five asked the rival finds one. It also looks at the clock before each request and never after the last, lets the error
of a node out, and leaves what it has got behind when it gives up.
"""

from __future__ import annotations

import time

from ..lease import Lease, drift
from ..redlock import Redlock

CAUGHT_BY = "exclusive_grants"


class StopAtMajorityRedlock(Redlock):
    """As Redlock, but for the way it acquires."""

    def try_acquire(self) -> Lease | None:
        token, start = self._new_token(), time.monotonic()
        votes, remaining = 0, len(self.nodes)
        for client in self.nodes.clients:
            if votes >= self.nodes.majority or votes + remaining < self.nodes.majority:
                break
            if time.monotonic() > start + 0.8 * self.ttl:
                break
            votes += bool(client.set(self.name, token, nx=True, px=self._ms))
            remaining -= 1
        if votes < self.nodes.majority:
            return None
        return Lease(self.name, token, None, start + self.ttl - drift(self.ttl))
