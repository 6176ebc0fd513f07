"""ReentrantLock: the same thread of the same client may come in again, as often as it leaves again.

The lock is a hash with one field, the owner, and a count of its entries, as in Redisson's RLock. The owner is client
and thread; re-entry gives a full lease again and never a shorter one. Like every lease it does not help an owner that
stands still; and since its owner's name does not change from one acquisition to the next, a thread that comes late can
leave an acquisition that is not the one it meant (its own: never another thread's).
"""

from __future__ import annotations

import hashlib
import threading
import time
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Any

from redis.exceptions import NoScriptError, ResponseError

from . import waiting
from .lease import Lease, LeaseLost, Misuse, check_name, check_ttl, drift

NAMES = ("reenter", "prolong", "leave")
LUA = {name: (Path(__file__).parent / f"{name}.lua").read_text(encoding="utf-8") for name in NAMES}
SHA = {name: hashlib.sha1(source.encode()).hexdigest() for name, source in LUA.items()}


class ReentrantLock:
    """A lock called `name` on the server of `client`. `ttl`: seconds; `poll`: seconds between two tries, at most. One
    object stands for one client: share it among threads, each of which is an owner of its own."""

    reentrant = True

    def __init__(self, client: Any, name: str, ttl: float = 10.0, poll: float = 0.1) -> None:
        self.client, self.name, self.ttl, self.poll = client, check_name(name), check_ttl(ttl), check_ttl(poll, "poll")
        self._ms, self._id = round(self.ttl * 1000), uuid.uuid4().hex

    def try_acquire(self) -> Lease | None:
        """One try, one round trip; from the second entry on it always succeeds while the lease lasts. Raises the
        client's own error if its outcome cannot be known."""
        lease = self._lease(time.monotonic())
        try:
            entries = self._run("reenter", lease.token, self._ms)
        except BaseException:
            with suppress(Exception):
                self.release(lease)  # the request may have been executed all the same
            raise
        return lease if entries else None

    def acquire(self, timeout: float | None = None) -> Lease | None:
        """Tries until it has the lock or `timeout` seconds have passed (0: one try, None: for ever)."""
        return waiting.poll(self.try_acquire, timeout, self.poll)

    def extend(self, lease: Lease) -> Lease:
        """A full TTL from now on, however often we are in. Raises LeaseLost if the lock is not ours any more."""
        sent = time.monotonic()
        self._ask("prolong", self._token_of(lease), self._ms)
        return Lease(self.name, lease.token, None, sent + self.ttl - drift(self.ttl))

    def release(self, lease: Lease) -> None:
        """Leaves once; the last one out gives the lock back. Raises LeaseLost if it was not ours any more."""
        self._ask("leave", self._token_of(lease))

    hold = waiting.hold

    def entries(self, lease: Lease) -> int:
        """How often the owner of this lease is in; 0 if it is not. More than you think means a leak."""
        return int(self.client.hget(self.name, self._token_of(lease)) or 0)

    # -- the small steps ---------------------------------------------------------------------------------------

    def _lease(self, sent: float) -> Lease:
        owner = f"{self._id}:{threading.get_ident()}"
        return Lease(self.name, owner, None, sent + self.ttl - drift(self.ttl))

    def _token_of(self, lease: Lease) -> str:
        if not isinstance(lease, Lease) or lease.name != self.name or not isinstance(lease.token, str):
            raise Misuse(f"The lock {self.name!r} wants a lease that it has granted, not {lease!r}.")
        return lease.token

    def _ask(self, script: str, *args: str | int) -> None:
        happened, others = self._run(script, *args)
        if not happened:
            raise LeaseLost("stolen" if others else "expired", self.name)

    def _run(self, script: str, *args: str | int) -> Any:
        try:
            return self.client.execute_command("EVALSHA", SHA[script], 1, self.name, *args)
        except NoScriptError:
            return self.client.execute_command("EVAL", LUA[script], 1, self.name, *args)
        except ResponseError as error:
            if "WRONGTYPE" in str(error):
                raise Misuse(f"The key {self.name!r} holds something that is no re-entrant lock.") from error
            raise
