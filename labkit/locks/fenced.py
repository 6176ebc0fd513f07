"""FencedLock: a SafeLock whose lease carries a fencing token, a number that grows with each grant (`Lease.fence`).

The token is minted in the step that grants the lock and belongs to the lease for good: an extension keeps it, and it is
never asked for again, for by then it may be the next holder's. It protects nothing by itself: the store must compare it
(`stores.FencedRegister`), and the owner with it, since a failover of this server may repeat a number (E22). The counter
lives next to the lock without an expiry; keep it where keys are not evicted, and restored before locks are granted. The
lock is not re-entrant: who has it and asks again is refused like anybody else.
"""

from __future__ import annotations

import hashlib
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from redis.exceptions import NoScriptError, ResponseError

from .lease import Lease, Misuse, as_text, drift
from .safe import SafeLock

GRANT = (Path(__file__).parent / "grant.lua").read_text(encoding="utf-8")
SHA = hashlib.sha1(GRANT.encode()).hexdigest()


class FencedLock(SafeLock):
    """As SafeLock; `counter` is the key of its fencing tokens, in the lock's own slot of a cluster. The server's user
    must be allowed that key too."""

    def __init__(self, client: Any, name: str, ttl: float = 10.0, poll: float = 0.1) -> None:
        super().__init__(client, name, ttl, poll)
        self.counter = counter(self.name)

    def try_acquire(self) -> Lease | None:
        """One try, one round trip. Raises the client's own error if its outcome cannot be known, and Misuse if the
        counter holds no number: then nothing is locked."""
        self._prepare()
        token, sent = self._new_token(), time.monotonic()
        lease = Lease(self.name, token, None, sent + self.ttl - drift(self.ttl))
        try:
            fence = self._grant(token)
        except BaseException:
            self._forget(lease)  # the request may have been executed all the same
            raise
        if fence is None:
            return None
        if lease.remaining():
            return replace(lease, fence=int(fence))
        self._forget(lease)  # the answer took longer than the lease lasts
        return None

    # -- the small steps ---------------------------------------------------------------------------------------

    def _grant(self, token: str) -> str | None:
        """The fencing token, or None if somebody else has the lock."""
        keys_and_args = (2, self.name, self.counter, token, self._ms)
        try:
            try:
                return as_text(self._send("EVALSHA", SHA, *keys_and_args))
            except NoScriptError:
                return as_text(self._send("EVAL", GRANT, *keys_and_args))
        except ResponseError as error:
            if "NOCOUNTER" not in str(error):
                raise
            why = f"The counter {self.counter!r} gives no fencing token ({str(error).partition('NOCOUNTER ')[2]}), and "
            why += f"{self.name!r} is not locked: set the counter to a number above all that the stores have seen."
            raise Misuse(why) from error

    def _prepare(self) -> None:
        """As in SafeLock, with one script and one key more, in a round trip before its own."""
        if not self._prepared:
            first = self.client.pipeline(transaction=False)
            first.script_load(GRANT).exists(self.counter).execute()
            super()._prepare()


def counter(name: str) -> str:
    """The key of a lock's fencing tokens, in the lock's own slot of a cluster, as that of a receipt is."""
    return f"{name if '{' in name else '{' + name + '}'}:fence"
