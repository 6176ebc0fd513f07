"""SafeLock: SET NX PX done right, on one Redis server.

It guarantees what one server can: a value of its own for each acquisition, compared before every change, so that no
client extends or releases another's lock; a lost reply is resolved, so that no client is locked out by its own ghost.
It does not renew itself, and no lock of this kind stops a paused holder's late write.
"""

from __future__ import annotations

import hashlib
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from redis.exceptions import NoScriptError, ResponseError

from . import waiting
from .lease import RECEIPT_MS, Lease, LeaseLost, Misuse, as_text, check_name, check_ttl, drift, receipt, token_of

LUA = {name: (Path(__file__).parent / f"{name}.lua").read_text(encoding="utf-8") for name in ("release", "extend")}
SHA = {name: hashlib.sha1(source.encode()).hexdigest() for name, source in LUA.items()}


class SafeLock:
    """A lock called `name` on the server of `client` (a redis.Redis). `ttl`: seconds until the server takes it back.
    `poll`: seconds between two tries while waiting, at most. Raises ValueError, before any I/O, for a TTL below 1 ms.
    The server's user must be allowed scripts and the keys `name` and `{name}:released:*`. Give the client time-outs and
    few retries: with redis-py's defaults a single call over a cut link may take ten minutes.

    One object may serve many threads: what is held is in the lease, not in the lock."""

    def __init__(self, client: Any, name: str, ttl: float = 10.0, poll: float = 0.1) -> None:
        self.client, self.name, self.ttl, self.poll = client, check_name(name), check_ttl(ttl), check_ttl(poll, "poll")
        self._ms = round(self.ttl * 1000)
        self._prepared = False
        self._knows_nx_get = True  # Redis 7.0 and newer; found out by the first try

    def try_acquire(self) -> Lease | None:
        """One try, one round trip. Raises the client's own error if its outcome cannot be known."""
        self._prepare()
        token, sent = self._new_token(), time.monotonic()
        lease = Lease(self.name, token, None, sent + self.ttl - drift(self.ttl))
        try:
            holder = self._claim(token)
        except BaseException:
            self._forget(lease)  # the request may have been executed all the same
            raise
        if holder not in (None, token):
            return None
        if lease.remaining():
            return lease
        self._forget(lease)  # the answer took longer than the lease lasts
        return None

    def acquire(self, timeout: float | None = None) -> Lease | None:
        """Tries until it has the lock or `timeout` seconds have passed (0: one try, None: for ever)."""
        return waiting.poll(self.try_acquire, timeout, self.poll)

    def extend(self, lease: Lease) -> Lease:
        """A full TTL from now on, under the same token. Raises LeaseLost if the lock is not ours any more."""
        token, sent = self._token_of(lease), time.monotonic()
        self._ask("extend", self.name, token, self._ms)
        return Lease(self.name, token, lease.fence, sent + self.ttl - drift(self.ttl))

    def release(self, lease: Lease) -> None:
        """Gives the lock back. Raises LeaseLost if it was not ours any more: then exclusion did not last to the end."""
        token = self._token_of(lease)
        self._ask("release", self.name, self._receipt(token), token, RECEIPT_MS)

    hold = waiting.hold

    # -- the small steps ---------------------------------------------------------------------------------------

    def _claim(self, token: str) -> str | None:
        """Whose the lock was when we asked: None, nobody's, so now ours; our own token, ours by a lost reply."""
        if self._knows_nx_get:
            try:
                return as_text(self._send("SET", self.name, token, "NX", "GET", "PX", self._ms, get=True))
            except ResponseError as error:
                if "syntax" not in str(error):
                    raise
                self._knows_nx_get = False
        if self._send("SET", self.name, token, "NX", "PX", self._ms):  # before Redis 7.0: NX and GET one by one
            return None
        return as_text(self._send("GET", self.name)) or "somebody who has just left"

    def _token_of(self, lease: Lease) -> str:
        return token_of(lease, self.name)

    def _ask(self, script: str, *keys_and_args: str | int) -> None:
        """Runs one of our scripts; a server that has restarted or flushed its scripts is told it anew."""
        self._prepare()
        keys = len(keys_and_args) - 2  # two arguments each: our token and a time
        try:
            happened, others = self._send("EVALSHA", SHA[script], keys, *keys_and_args)
        except NoScriptError:
            happened, others = self._send("EVAL", LUA[script], keys, *keys_and_args)
        if not happened:
            raise LeaseLost("stolen" if others else "expired", self.name)

    def _send(self, *command: str | int, **options: bool) -> Any:
        try:
            return self.client.execute_command(*command, **options)
        except ResponseError as error:
            if "WRONGTYPE" in str(error):
                raise Misuse(f"The key {self.name!r} holds something that is no lock.") from error
            raise

    def _forget(self, lease: Lease) -> None:
        with suppress(Exception):
            self.release(lease)

    def _prepare(self) -> None:
        """Before the first grant, in one round trip: loads the scripts. A user who may not load them, or has no access
        to receipts, learns it while nothing is locked yet; finer rights show at the first release."""
        if not self._prepared:
            first = self.client.pipeline(transaction=False)
            for source in LUA.values():
                first.script_load(source)
            first.exists(self._receipt("none")).execute()
            self._prepared = True

    def _receipt(self, token: str) -> str:
        return receipt(self.name, token)

    def _new_token(self) -> str:
        return os.urandom(16).hex()
