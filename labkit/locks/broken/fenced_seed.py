"""SeedFencedLock: a lock with a fencing token as the article has it (its section 4.3).

One script takes the lock and then counts. A script is not interrupted, but neither is it rolled back: where the counter
holds no number, the caller is told of an error and the lock is taken all the same, for nobody, at each attempt anew
(E03). In a cluster its two keys are in two slots (E24); the TTL is whole seconds, so half of one is an error (E25); the
count goes through a number of Lua and is rounded beyond 2^53 (E26). Its store is `stores.broken.StrictRegister`.
"""

from __future__ import annotations

import time

from ..lease import Lease, drift
from ..safe import SafeLock

CAUGHT_BY = "honest"
LOCK_THEN_COUNT = """
-- lock-then-count: as in the article
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'EX', ARGV[2]) then return redis.call('INCR', KEYS[2]) else return 0 end
""".strip()


class SeedFencedLock(SafeLock):
    """As SafeLock, but the grant is the article's script."""

    @property
    def counter(self) -> str:
        return f"{self.name}:token"

    def try_acquire(self) -> Lease | None:
        token, sent = self._new_token(), time.monotonic()
        fence = self.client.eval(LOCK_THEN_COUNT, 2, self.name, self.counter, token, int(self.ttl))  # raises, and locks
        if not fence:
            return None
        return Lease(self.name, token, fence, sent + self.ttl - drift(self.ttl))
