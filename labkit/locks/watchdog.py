"""WatchdogLock: a lock that is renewed while its owner works, and an owner that is told once when that has failed.

Only what is still ours is extended, by one compare-and-extend a time; never after a release, never for an owner thread
that has died, never beyond `max_hold`. Transient errors are survived until the owner's own monotonic deadline; there
the owner is told, by an event and a callback, even while a call hangs. It cannot help an owner that stands still.

Longer than other locks, for it is two things: the `Watchdog`, which knows times and threads and no Redis, and may serve
a thousand locks with a fixed number of threads; and the lock, which puts any other lock under its care.
"""

from __future__ import annotations

import heapq
import queue
import threading
import time
from collections.abc import Callable
from itertools import count
from typing import Any

from redis.exceptions import RedisError

from . import waiting
from .lease import Lease, LeaseLost, check_ttl
from .safe import SafeLock

POLICIES = ("deadline", "first-error", "for-ever")
OnLost = Callable[[str], None]


class Watched:
    """A grant under renewal. lease: the newest one.  lost: set once it is known to be gone.  reason: why."""

    def __init__(self, lock: WatchdogLock, lease: Lease, on_lost: OnLost | None) -> None:
        self.lock, self.lease, self.on_lost = lock, lease, on_lost
        self.owner, self.since = threading.current_thread(), time.monotonic()
        self.lost, self.reason = threading.Event(), ""
        self.depth, self.failures, self.over = 1, 0, False
        self.next_try = self.since + lock.interval

    def tell(self, reason: str) -> None:
        """Tells the owner, the first time."""
        if self.lost.is_set() or self.over:
            return
        self.reason = reason
        self.lost.set()
        if self.on_lost is not None:
            self.on_lost(reason)

    def may_try(self) -> bool:
        """Whether a renewal may still be sent: not for a thread that has died, nor for ever, if there is a limit."""
        limit = self.lock.max_hold
        return not self.over and self.owner.is_alive() and (limit is None or time.monotonic() < self.since + limit)


class Watchdog:
    """Renews any number of grants with `threads` threads that call, and one that keeps the time."""

    def __init__(self, threads: int = 4) -> None:
        if not isinstance(threads, int) or threads < 1:
            raise ValueError(f"threads={threads!r}: a watchdog needs at least one thread to call with.")
        self.threads = threads
        self._changed = threading.Condition()
        self._due: list[tuple[float, int, Watched]] = []
        self._serial = count()
        self._calls: queue.SimpleQueue[Watched] = queue.SimpleQueue()
        self._awake_at: float | None = None  # until when the timekeeper sleeps; None: there is none yet

    def watch(self, watched: Watched) -> None:
        with self._changed:
            if self._awake_at is None:
                self._awake_at = float("inf")
                for work in (self._keep_time, *[self._call] * self.threads):
                    threading.Thread(target=work, daemon=True).start()
            self._put(watched)

    def _put(self, watched: Watched) -> None:
        """Notes when this grant wants a look; wakes the timekeeper only if it would sleep past that."""
        ended = watched.lost.is_set()
        at = watched.next_try if ended else min(watched.next_try, watched.lease.deadline)
        heapq.heappush(self._due, (at, next(self._serial), watched))
        if at < (self._awake_at or 0.0):
            self._changed.notify()

    def _keep_time(self) -> None:
        """The timekeeper's life: sleep until a grant is due, look at it, put it back."""
        while True:
            with self._changed:
                while not self._due or self._due[0][0] > time.monotonic():
                    self._awake_at = self._due[0][0] if self._due else float("inf")
                    self._changed.wait(self._awake_at - time.monotonic() if self._due else None)
                self._awake_at = 0.0
                watched = heapq.heappop(self._due)[2]
            if self._look(watched):
                with self._changed:
                    self._put(watched)

    def _look(self, watched: Watched) -> bool:
        """Has its time come to be told, or to be renewed? Returns whether to look at it again."""
        now, lock = time.monotonic(), watched.lock
        if watched.over:
            return False
        if now >= watched.lease.deadline and not watched.lost.is_set():
            _safely(watched.tell, "expired")
            watched.over = lock.policy != "for-ever"
            if watched.over:
                return False
        if now >= watched.next_try:
            # set now as if the call would hang; a call that ends sets it anew
            watched.next_try = now + lock.budget + lock.interval if watched.may_try() else float("inf")
            if watched.may_try():
                self._calls.put(watched)
        return not (watched.lost.is_set() and watched.next_try == float("inf"))

    def _call(self) -> None:
        """A caller's life: one renewal after the other. What goes wrong with one grant stays with that grant."""
        while True:
            watched = self._calls.get()
            if watched.may_try():
                _safely(self._renew, watched)

    def _renew(self, watched: Watched) -> None:
        lock, before = watched.lock, watched.lease
        try:
            lease = lock.extend(before)
        except LeaseLost as lost:
            _safely(watched.tell, lost.reason)
            watched.over = True
        except RedisError:
            watched.failures += 1
            stop = lock.policy == "first-error"
            watched.next_try = float("inf") if stop else time.monotonic() + lock.interval
        else:
            watched.failures = 0
            watched.next_try = time.monotonic() + lock.interval
            if lease.deadline > watched.lease.deadline:
                watched.lease = lease
        if not watched.over:
            with self._changed:
                self._put(watched)


class WatchdogLock:
    """A lock called `name`, renewed every `interval` seconds (a third of `ttl`) from the end of the last attempt.

    budget: seconds that one attempt may take before it counts as failed (a sixth of `ttl`; give the client a
    socket_timeout below it).  margin: what must be left of the lease then (a tenth of `ttl`).  policy: after an error
    "deadline" tries on until the lease ends, "first-error" gives up, "for-ever" goes on even then.  max_hold: seconds
    after which it is no longer renewed.  on_lost: called with the reason; quick, on a thread of the dog.  kind: what is
    put under care.  dog: one `Watchdog` for many locks. Raises ValueError where the times cannot work."""

    def __init__(
        self,
        client: Any,
        name: str,
        ttl: float = 10.0,
        poll: float = 0.1,
        *,
        interval: float | None = None,
        budget: float | None = None,
        margin: float | None = None,
        policy: str = "deadline",
        max_hold: float | None = None,
        on_lost: OnLost | None = None,
        kind: Any = SafeLock,
        dog: Watchdog | None = None,
    ) -> None:
        self.lock = kind(client, name, ttl, poll)
        self.reentrant = getattr(self.lock, "reentrant", False)
        self.name, self.ttl, self.policy, self.on_lost = name, self.lock.ttl, policy, on_lost
        self.interval = check_ttl(ttl / 3 if interval is None else interval, "interval")
        self.budget, self.margin = (ttl / 6 if budget is None else budget), (ttl / 10 if margin is None else margin)
        self.max_hold = None if max_hold is None else check_ttl(max_hold, "max_hold")
        self.dog, self._grants = dog or Watchdog(threads=1), dict[str, Watched]()
        if policy not in POLICIES:
            raise ValueError(f"policy={policy!r} is not one of {', '.join(map(repr, POLICIES))}.")
        if self.interval + self.budget + self.margin >= ttl:
            parts = f"interval {self.interval:g} s, budget {self.budget:g} s and margin {self.margin:g} s"
            raise ValueError(f"{parts} do not fit into ttl={ttl:g} s: the first attempt could come too late.")

    def try_acquire(self) -> Lease | None:
        """One try; from a grant on, the dog watches."""
        lease: Lease | None = self.lock.try_acquire()
        if lease is not None:
            self._watch(lease)
        return lease

    def acquire(self, timeout: float | None = None) -> Lease | None:
        """Tries until it has the lock or `timeout` seconds have passed (0: one try, None: for ever)."""
        return waiting.poll(self.try_acquire, timeout, self.lock.poll)

    def extend(self, lease: Lease) -> Lease:
        """A full TTL from now on. Raises LeaseLost if the lock is not ours any more."""
        extended: Lease = self.lock.extend(lease)
        return extended

    def release(self, lease: Lease) -> None:
        """Ends the renewal first, then gives the lock back. Raises LeaseLost if it was not ours any more."""
        watched = self._grants.get(lease.token)
        if watched is not None:
            watched.depth -= 1
            if watched.depth <= 0:
                watched.over = True
                del self._grants[lease.token]
        self.lock.release(lease)

    hold = waiting.hold

    def watched(self, lease: Lease) -> Watched:
        """What the dog knows of this grant: its newest lease, whether it is lost and why. Raises KeyError for one that
        has been released."""
        return self._grants[lease.token]

    def _watch(self, lease: Lease) -> None:
        again = self._grants.get(lease.token)  # the same owner has come in once more
        if again is not None:
            again.depth += 1
            return
        self._grants[lease.token] = watched = Watched(self, lease, self.on_lost)
        self.dog.watch(watched)


def _safely(call: Callable[[Any], None], argument: Any) -> None:
    """A callback that raises, or one poisoned grant, must not end the renewal of all the others."""
    try:
        call(argument)
    except Exception as error:
        caller = threading.current_thread()
        threading.excepthook(threading.ExceptHookArgs((type(error), error, error.__traceback__, caller)))
