"""WatchdogLock: a lock that is renewed while its owner works, and an owner that is told once when that has failed.

Only what is still ours is extended, by one compare-and-extend a time; none is sent for a lock that has been released,
for an owner thread that has died, or beyond `max_hold` (one that is on its way already finds a token that is nobody's).
Transient errors are survived until the owner's own monotonic deadline; there the owner is told, by an event and a
callback, even while a call hangs. It cannot help an owner that stands still: that one is told when it wakes up.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

from . import waiting
from .dog import Watchdog, Watched
from .lease import Lease, LeaseLost, check_ttl, drift
from .safe import SafeLock

POLICIES = ("deadline", "first-error", "for-ever")
OnLost = Callable[[str], None]
__all__ = ["POLICIES", "Watchdog", "WatchdogLock", "Watched"]


class WatchdogLock:
    """A lock called `name`, renewed every `interval` seconds (a third of `ttl`) from the end of the last attempt.

    retry: seconds after a failed attempt (as long as `interval`).  budget: seconds that an attempt may take before it
    counts as failed (a sixth of `ttl`; give the client a socket_timeout below it).  margin: what must be left of the
    lease then (a tenth of `ttl`).  policy: after an error "deadline" tries on until the lease ends, "first-error" gives
    up, "for-ever" goes on even then.  max_hold: seconds after which it is no longer renewed.  on_lost: called once with
    the reason, on a thread of its own.  kind: what is put under care.  dog: one `Watchdog` for many locks. The owner is
    the thread that acquires. Raises ValueError, before any I/O, where the times cannot work: interval, budget and
    margin must fit into what a lease is worth. Source of that rule: an attempt that ends after the lease is none."""

    def __init__(
        self,
        client: Any,
        name: str,
        ttl: float = 10.0,
        poll: float = 0.1,
        *,
        interval: float | None = None,
        retry: float | None = None,
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
        self.client, self.name, self.ttl, self.poll = client, name, self.lock.ttl, self.lock.poll
        self.interval = check_ttl(ttl / 3 if interval is None else interval, "interval")
        self.retry = self.interval if retry is None else check_ttl(retry, "retry")
        self.budget = check_ttl(ttl / 6 if budget is None else budget, "budget")
        self.margin = check_ttl(ttl / 10 if margin is None else margin, "margin")
        self.max_hold = None if max_hold is None else check_ttl(max_hold, "max_hold")
        if policy not in POLICIES:
            raise ValueError(f"policy={policy!r} is not one of {', '.join(map(repr, POLICIES))}.")
        if self.interval + self.budget + self.margin >= ttl - drift(ttl):
            parts = f"interval {self.interval:g} s, budget {self.budget:g} s and margin {self.margin:g} s"
            raise ValueError(f"{parts} do not fit into ttl={ttl:g} s: the first attempt could come too late.")
        self.policy, self.on_lost = policy, on_lost
        self.dog, self._grants = dog or Watchdog(threads=1), dict[str, Watched]()
        self._pid = os.getpid()

    def try_acquire(self) -> Lease | None:
        """One try; from a grant on, the dog watches."""
        lease: Lease | None = self.lock.try_acquire()
        if lease is not None:
            self._watch(lease)
        return lease

    def acquire(self, timeout: float | None = None) -> Lease | None:
        """Tries until it has the lock or `timeout` seconds have passed (0: one try, None: for ever)."""
        return waiting.poll(self.try_acquire, timeout, self.poll)

    def extend(self, lease: Lease) -> Lease:
        """A full TTL from now on. Raises LeaseLost if the lock is not ours any more; then the owner has been told."""
        watched = self._grants.get(getattr(lease, "token", ""))
        try:
            extended: Lease = self.lock.extend(lease)
        except LeaseLost as lost:
            _end(watched, lost.reason)
            raise
        if watched is not None and extended.deadline > watched.lease.deadline:
            watched.lease = extended
        return extended

    def release(self, lease: Lease) -> None:
        """Ends the renewal first, then gives the lock back; of a lock that its owner is in more than once, leaves once.
        Raises LeaseLost if it was not ours any more."""
        watched = self._grants.get(getattr(lease, "token", ""))
        entry = getattr(lease, "entry", "")  # a release that is repeated must not count twice
        if watched is not None and watched.entries <= {entry}:
            watched.over = True
            del self._grants[lease.token]
        try:
            self.lock.release(lease)
        except LeaseLost as lost:
            _end(watched, lost.reason)
            raise
        if watched is not None:
            watched.entries.discard(entry)

    hold = waiting.hold

    def watched(self, lease: Lease) -> Watched:
        """What the dog knows of this grant: its newest lease, whether it is lost and why. Raises KeyError for one that
        has been released."""
        return self._grants[lease.token]

    def owner(self) -> threading.Thread:
        """Whose life a new grant is tied to."""
        return threading.current_thread()

    def _watch(self, lease: Lease) -> None:
        if self._pid != os.getpid():
            self._pid, self._grants = os.getpid(), {}  # after a fork: those were the parent's
        for token, old in list(self._grants.items()):
            if old.over and not old.owner.is_alive():  # lost, and nobody will ever give it back
                self._grants.pop(token, None)
        outer = self._grants.get(lease.token)
        if outer is not None and not outer.over:  # the same owner has come in once more
            outer.entries |= {getattr(lease, "entry", "")}
            outer.lease = max(outer.lease, lease, key=lambda each: each.deadline)
            return
        self._grants[lease.token] = watched = Watched(self, lease)
        watched.entries |= outer.entries if outer is not None else set()
        self.dog.watch(watched)


def _end(watched: Watched | None, reason: str) -> None:
    if watched is not None:
        watched.tell(reason)
        watched.over = True
