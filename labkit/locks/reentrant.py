"""ReentrantLock: the thread that has the lock may come in again, as often as it leaves again.

The lock is a hash: who owns it, and a field for each entry; their number is the count of Redisson's RLock. Entries have
names, so a request that the client library repeats is not counted twice: a count that leaks is a lock that is never
free. The owner is a grant, drawn anew each time the lock is taken, which one thread of one object is in. Re-entry gives
a full lease again and never a shorter one. Like every lease it does not help an owner that stands still.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from redis.exceptions import NoScriptError, ResponseError

from . import waiting
from .lease import RECEIPT_MS, Lease, LeaseLost, Misuse, as_text, check_name, check_ttl, drift, receipt, token_of

NAMES = ("enter", "prolong", "leave")
LUA = {name: (Path(__file__).parent / f"{name}.lua").read_text(encoding="utf-8") for name in NAMES}
SHA = {name: hashlib.sha1(source.encode()).hexdigest() for name, source in LUA.items()}


@dataclass(frozen=True, slots=True)
class Entry(Lease):
    """A lease, and which of the grant's entries it stands for."""

    entry: str = ""


class ReentrantLock:
    """A lock called `name` on the server of `client`. `ttl`: seconds until the server takes it back; `poll`: seconds
    between two tries, at most. Raises ValueError, before any I/O, for a TTL below 1 ms. One object may serve many
    threads, each of which is an owner of its own; two objects of one name never let each other's threads in."""

    reentrant = True

    def __init__(self, client: Any, name: str, ttl: float = 10.0, poll: float = 0.1) -> None:
        self.client, self.name, self.ttl, self.poll = client, check_name(name), check_ttl(ttl), check_ttl(poll, "poll")
        self._ms, self._numbers, self._prepared = round(self.ttl * 1000), count(1), False
        self._inside: WeakKeyDictionary[threading.Thread, str] = WeakKeyDictionary()  # thread -> the grant it got last
        self._pid = os.getpid()

    def try_acquire(self) -> Lease | None:
        """One try, one round trip, and a second one where the grant that this thread was in is lost. Raises the
        client's own error if the outcome cannot be known."""
        self._prepare()
        if self._pid != os.getpid():  # a forked process is nobody's owner, and its entries have names of their own
            self._pid, self._numbers, self._inside = os.getpid(), count(1), WeakKeyDictionary()
        me = threading.current_thread()
        outer = self._inside.get(me)
        lease = self._enter(outer, "again") if outer is not None else None
        if lease is None:
            lease = self._enter(os.urandom(16).hex(), "first")
            if lease is not None:
                self._inside[me] = lease.token
        return lease

    def acquire(self, timeout: float | None = None) -> Lease | None:
        """Tries until it has the lock or `timeout` seconds have passed (0: one try, None: for ever)."""
        return waiting.poll(self.try_acquire, timeout, self.poll)

    def extend(self, lease: Lease) -> Lease:
        """A full TTL from now on, however often we are in. Raises LeaseLost if the lock is not ours any more."""
        token, sent = self._token_of(lease), time.monotonic()
        self._ask("prolong", 1, self.name, token, self._ms)
        return self._lease(token, _entry_of(lease), sent)

    def release(self, lease: Lease) -> None:
        """Leaves by the entry that this lease stands for; the last one out gives the lock back. A repeated release does
        nothing more. Raises LeaseLost if the lock was not ours any more: then exclusion did not last to the end."""
        token = self._token_of(lease)
        remain = self._ask("leave", 2, self.name, self._receipt(token), token, _entry_of(lease), RECEIPT_MS)
        me = threading.current_thread()
        if not remain and self._inside.get(me) == token:
            del self._inside[me]

    hold = waiting.hold

    def entries(self, lease: Lease) -> int:
        """How often the grant of this lease is in by the server's account; 0 if it is lost. More than you have leases
        in hand means that one was never given back."""
        owner, fields = self.client.hget(self.name, "owner"), self.client.hlen(self.name)
        return int(fields) - 1 if as_text(owner) == self._token_of(lease) else 0

    # -- the small steps ---------------------------------------------------------------------------------------

    def _enter(self, token: str, how: str) -> Lease | None:
        lease = self._lease(token, str(next(self._numbers)), time.monotonic())
        try:
            is_in = self._run("enter", 1, self.name, token, lease.entry, self._ms, how)
        except BaseException:
            self._forget(lease)  # the request may have been executed all the same
            raise
        if is_in and not lease.remaining():
            self._forget(lease)  # the answer took longer than the lease lasts
            return None
        return lease if is_in else None

    def _lease(self, token: str, entry: str, sent: float) -> Entry:
        return Entry(self.name, token, None, sent + self.ttl - drift(self.ttl), entry)

    def _forget(self, lease: Lease) -> None:
        with suppress(Exception):
            self.release(lease)

    def _token_of(self, lease: Lease) -> str:
        return token_of(lease, self.name)

    def _receipt(self, token: str) -> str:
        return receipt(self.name, token)

    def _prepare(self) -> None:
        """Before the first grant, in one round trip, as in SafeLock: a user who may not do it all learns it while
        nothing is locked yet."""
        if not self._prepared:
            first = self.client.pipeline(transaction=False)
            for source in LUA.values():
                first.script_load(source)
            first.exists(self._receipt("none")).execute()
            self._prepared = True

    def _ask(self, script: str, keys: int, *args: str | int) -> int:
        happened, more = self._run(script, keys, *args)
        if not happened:
            raise LeaseLost("stolen" if more else "expired", self.name)
        return int(more)

    def _run(self, script: str, keys: int, *args: str | int) -> Any:
        try:
            return self._send("EVALSHA", SHA[script], keys, *args)
        except NoScriptError:
            return self._send("EVAL", LUA[script], keys, *args)

    def _send(self, *command: str | int) -> Any:
        try:
            return self.client.execute_command(*command)
        except ResponseError as error:
            if "WRONGTYPE" in str(error):
                raise Misuse(f"The key {self.name!r} holds something that is no lock.") from error
            raise


def _entry_of(lease: Lease) -> str:
    return getattr(lease, "entry", "")
