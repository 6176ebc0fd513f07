"""CompatLock: SafeLock behind the interface of redis-py's Lock, `redis.lock("x", timeout=10, lock_class=CompatLock)`.

It guarantees to callers of redis-py what SafeLock does: a lost reply is resolved, an interrupted try leaves nothing
behind, a failed release can be repeated, spans are checked before any I/O, and leaving a `with` never hides the error
of its body. It differs from redis-py on purpose: a span below 1 ms is a ValueError (there, timeout=0 means for ever,
and extend(-20) deletes the lock); the last pause of a wait is cut to what is left, not skipped; nothing is logged.
It does not make a lock without a timeout safe: if its holder dies, it stays until somebody deletes the key. The
asyncio Lock is out of scope: this is blocking code.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace, TracebackType
from typing import Any, Literal, Self

from redis.exceptions import LockError, LockNotOwnedError

from .lease import LONGEST, LeaseLost, Misuse, check_timeout, check_ttl, drift
from .safe import RECEIPT_MS, SafeLock

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
            left = pause if end is None else end - time.monotonic()
            if not waits or (end is not None and left < SHORTEST_PAUSE):
                return False
            time.sleep(min(pause, left))
        return True

    def release(self) -> None:
        """Gives the lock back. Raises LockNotOwnedError if it was not ours any more, LockError if it never was. After
        a connection error the token is still there, so that the release can be tried again."""
        token = self._token("release")
        self.local.token = None  # first, for with thread_local=False the next holder may be another thread
        try:
            self._ask("release", token, token, RECEIPT_MS)
        except LockError:
            raise
        except BaseException:
            self.local.token = token if self.local.token is None else self.local.token
            raise

    def extend(self, additional_time: float, replace_ttl: bool = False) -> Literal[True]:
        """Adds so many seconds to what is left, or puts them in its place. Raises ValueError for less than 1 ms,
        LockNotOwnedError if the lock is not ours any more, LockError if it never was or never runs out."""
        ms = round(check_ttl(additional_time, "additional_time") * 1000)
        return self._prolong("extend", ms, add=not replace_ttl)

    def reacquire(self) -> Literal[True]:
        """The full timeout from now on. Raises as `extend` does."""
        return self._prolong("reacquire", self._ms, add=False)
