"""CompatLock: SafeLock behind the interface of redis-py's Lock, `redis.lock("x", timeout=10, lock_class=CompatLock)`.

It guarantees to callers of redis-py what SafeLock does: a lost reply is resolved if asked for again within a minute, an
interrupted try leaves nothing behind, a failed release can be repeated, spans are checked before any I/O, and leaving
a `with` never hides the error of its body. It differs from redis-py on purpose: a span that cannot be is a ValueError
(there, timeout=0 means for ever, and extend(-20) deletes the lock); the last pause of a wait is cut to what is left,
not skipped; a key that holds no lock is a LockError; nothing is logged.
It does not make a lock without a timeout safe: if its holder dies, it stays until somebody deletes the key. The
asyncio Lock is out of scope: this is blocking code.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace, TracebackType
from typing import Any, Literal, Self

from redis.exceptions import LockError, LockNotOwnedError

from .lease import LONGEST, RECEIPT_MS, LeaseLost, Misuse, check_timeout, check_ttl, drift
from .safe import SafeLock

SCRIPTS = ("claim", "withdraw", "add_time")
LUA = {name: (Path(__file__).parent / f"{name}.lua").read_text(encoding="utf-8") for name in SCRIPTS}
SHORTEST_PAUSE = 0.001  # seconds; what is left after the last whole pause may be a rounding error


class CompatLock:
    """A lock as `redis.lock.Lock` is one; the arguments mean what they mean there, times are seconds.

    `timeout`: until the server takes the lock back; None: never. `sleep`: between two tries. `blocking` and
    `blocking_timeout`: whether `acquire` waits, and how long at most (None: for ever). `thread_local`: whether a token
    is seen only by the thread that got it. `raise_on_release_error`: whether leaving a `with` tells that the lock was
    lost. Raises ValueError, before any I/O, for a span that cannot be. `local.token`: the token in bytes while this
    object holds the lock, else None; it may be set, to go on with a lock that another process took.
    """

    def __init__(
        self,
        redis: Any,
        name: str,
        timeout: float | None = None,
        sleep: float = 0.1,
        blocking: bool = True,
        blocking_timeout: float | None = None,
        thread_local: bool = True,
        raise_on_release_error: bool = True,
    ) -> None:
        self.redis, self.name, self.sleep = redis, name, _pause(sleep)
        self.blocking, self.blocking_timeout = blocking, check_timeout(blocking_timeout)
        self.thread_local, self.raise_on_release_error = bool(thread_local), raise_on_release_error
        self.local: Any = threading.local() if thread_local else SimpleNamespace()
        self.local.token = None
        self._timeout = None if timeout is None else check_ttl(timeout, "timeout")
        self._ms = 0 if self._timeout is None else round(self._timeout * 1000)
        self._safe = SafeLock(redis, name, LONGEST if self._timeout is None else self._timeout)

    @property
    def timeout(self) -> float | None:
        """Seconds until the server takes the lock back; None: never. It is fixed when the lock is made."""
        return self._timeout

    def acquire(
        self,
        sleep: float | None = None,
        blocking: bool | None = None,
        blocking_timeout: float | None = None,
        token: str | bytes | None = None,
    ) -> bool:
        """Whether the lock is ours now. None: as the lock was made. `token`: the value to store instead of a new one;
        if others may carry it too, they can release the lock. Raises the client's own error if the outcome cannot be
        known, LockError if the key holds no lock."""
        pause = self.sleep if sleep is None else _pause(sleep)
        wait = self.blocking_timeout if blocking_timeout is None else check_timeout(blocking_timeout)
        waits = self.blocking if blocking is None else blocking
        end = None if wait is None else time.monotonic() + wait
        while not self._try(token):
            left = math.inf if end is None else end - time.monotonic()
            if not waits or left < SHORTEST_PAUSE:
                return False
            time.sleep(min(pause, left))
        return True

    def release(self) -> None:
        """Gives the lock back. Raises LockNotOwnedError if it was not ours any more, LockError if it never was. After
        a connection error the token is still there, so that the release can be tried again."""
        token = self._token("release")
        self.local.token = None  # first, for with thread_local=False the next holder may be another thread
        try:
            with self._told():
                self._safe._ask("release", self.name, self._receipt(token), token, RECEIPT_MS)
        except LockError:
            raise
        except BaseException:  # it may not have happened
            self.local.token = self.local.token or token
            raise

    def extend(self, additional_time: float, replace_ttl: bool = False) -> Literal[True]:
        """Adds so many seconds to what is left, or puts them in its place. Raises ValueError for less than 1 ms,
        LockNotOwnedError if the lock is not ours any more, LockError if it never was or never runs out."""
        ms = round(check_ttl(additional_time, "additional_time") * 1000)
        return self._prolong("extend", ms, add=not replace_ttl)

    def reacquire(self) -> Literal[True]:
        """The full timeout from now on. Raises as `extend` does."""
        return self._prolong("reacquire", self._ms, add=False)

    def locked(self) -> bool:
        """Whether anybody holds the lock."""
        return self._stored() is not None

    def owned(self) -> bool:
        """Whether this object holds the lock, in this thread if tokens are thread-local."""
        token = getattr(self.local, "token", None)
        return token is not None and self._stored() == self._encode(token)

    def __enter__(self) -> Self:
        if self.acquire():
            return self
        raise LockError(f"The lock {self.name!r} could not be had in time; somebody else holds it.", self.name)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        try:
            self.release()
        except Exception as failure:
            wanted = self.raise_on_release_error or not isinstance(failure, LockError)
            if wanted and error is None:  # no error of the release hides one of the body
                raise

    # -- the small steps ---------------------------------------------------------------------------------------

    def _try(self, given: str | bytes | None) -> bool:
        """One try: SafeLock's own, but where it has no words for what is wanted."""
        with self._told():
            if given is not None or self._timeout is None:
                return self._claim(self._encode(self._safe._new_token() if given is None else given))
            lease = self._safe.try_acquire()
        if lease is not None:
            self.local.token = self._encode(lease.token)
        return lease is not None

    def _claim(self, token: Any) -> bool:
        """A given token may be another holder's too, so that a value equal to it proves nothing: receipts do."""
        sent, keys = time.monotonic(), (self.name, self._receipt())
        try:
            granted = self._run("claim", *keys, self._receipt(token), args=(token, RECEIPT_MS, self._ms))
            if not granted:
                return False
            if self._timeout is None or time.monotonic() < sent + self._timeout - drift(self._timeout):
                self.local.token = token
                return True
        except BaseException:
            self._withdraw(keys, token)  # the request may have been executed all the same
            raise
        self._withdraw(keys, token)  # the answer took longer than the lock lasts
        return False

    def _prolong(self, verb: str, ms: int, add: bool) -> Literal[True]:
        token = self._token(verb, endless=False)
        with self._told():
            if not add:
                self._safe._ask("extend", self.name, token, ms)
                return True
            happened, others = self._run("add_time", self.name, self._receipt(), args=(token, ms, RECEIPT_MS))
            if not happened:
                raise LeaseLost("stolen" if others else "expired", self.name)
        return True

    def _withdraw(self, keys: tuple[str, str], token: Any) -> None:
        with suppress(Exception):
            self._run("withdraw", *keys, args=(token,))

    def _run(self, script: str, *keys: str, args: tuple[Any, ...]) -> Any:
        return self._safe._send("EVAL", LUA[script], len(keys), *keys, *args)

    def _receipt(self, token: bytes | None = None) -> str:
        """The key of a receipt: for all releases under a token, or a new one for one call."""
        return self._safe._receipt(self._safe._new_token() if token is None else token.hex())

    def _stored(self) -> Any:
        with self._told():
            value = self._safe._send("GET", self.name)
        return None if value is None else self._encode(value)

    def _encode(self, value: Any) -> Any:
        """As bytes, in the client's own encoding; a client may have been told to decode replies."""
        return self.redis.get_encoder().encode(value)

    def _token(self, verb: str, endless: bool = True) -> Any:
        token = getattr(self.local, "token", None)
        if token is None:
            who = "This thread" if self.thread_local else "This object"
            raise LockError(f"{who} cannot {verb} the lock {self.name!r}: it does not hold it.", self.name)
        if self._timeout is None and not endless:
            raise LockError(f"Cannot {verb} the lock {self.name!r}: made without a timeout, it never ends.", self.name)
        return self._encode(token)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """What went wrong, in redis-py's words."""
        try:
            yield
        except LeaseLost as lost:
            raise LockNotOwnedError(str(lost), self.name) from lost
        except Misuse as wrong:
            raise LockError(str(wrong), self.name) from wrong


def _pause(sleep: float) -> float:
    """Seconds between two tries; 0, as redis-py allows: at once."""
    return check_ttl(sleep, "sleep") if sleep else 0.0
