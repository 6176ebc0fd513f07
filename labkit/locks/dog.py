"""Watchdog: knows times and threads and no Redis, and may serve a thousand locks with a fixed number of threads.

One thread keeps the time: it tells an owner that its deadline has passed, also while a call hangs, and hands what is
due to threads that call. What goes wrong with one grant, a poisoned key, a slow callback, stays with that grant.
"""

from __future__ import annotations

import heapq
import os
import queue
import threading
import time
from collections.abc import Callable
from itertools import count
from math import inf
from typing import TYPE_CHECKING

from redis.exceptions import RedisError

from .lease import Lease, LeaseLost

if TYPE_CHECKING:
    from .watchdog import WatchdogLock

LINGER = 60.0  # seconds that a thread waits for more work before it ends
LONGEST_NAP = 3600.0  # seconds; a wait of centuries is more than a platform can count


class Watched:
    """A grant under renewal. lease: the newest one.  lost: set once it is known to be gone.  reason: why.
    failures: renewals that have failed since the last one that did not."""

    def __init__(self, lock: WatchdogLock, lease: Lease) -> None:
        self.lock, self.lease, self.owner, self.since = lock, lease, lock.owner(), time.monotonic()
        self.lost, self.reason, self._once = threading.Event(), "", threading.Lock()
        self.failures, self.calls = 0, 0
        self.entries = {getattr(lease, "entry", "")}  # of a lock that its owner may be in more than once
        self.over = self.stopped = False  # over: given back or given up.  stopped: no more renewals, but still ours
        self.due = self.next_try = inf
        self.rest()

    def rest(self) -> None:
        """Until the next renewal: the interval, but no longer than leaves time for an attempt and its margin."""
        lock = self.lock
        self.next_try = min(time.monotonic() + lock.interval, self.lease.deadline - lock.budget - lock.margin)

    def tell(self, reason: str) -> None:
        """Tells the owner: the first time, and not after a release. The callback has a thread of its own, so that one
        that hangs or raises holds up nobody's renewal."""
        if self.over or not self._once.acquire(blocking=False):
            return
        self.reason = reason
        self.lost.set()
        if self.lock.on_lost is not None:
            threading.Thread(target=self.lock.on_lost, args=(reason,), name="on_lost", daemon=True).start()

    def may_try(self) -> bool:
        """Whether a renewal may be sent now."""
        now, lock = time.monotonic(), self.lock
        if self.over or self.stopped or not self.owner.is_alive():
            return False
        if lock.max_hold is not None and now >= self.since + lock.max_hold:
            return False
        return lock.policy == "for-ever" or now < self.lease.deadline


class Watchdog:
    """Renews any number of grants with at most `threads` threads that call, and one that keeps the time. They start
    with the first grant and end when there has been nothing to do for a while."""

    def __init__(self, threads: int = 4) -> None:
        if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
            raise ValueError(f"threads={threads!r}: a watchdog needs a whole number of threads, 1 or more.")
        self.threads = threads
        self._begin()

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._changed = threading.Condition()
        self._due: list[tuple[float, int, Watched]] = []  # those whose time is not their grant's `due` are void
        self._tidy_at, self._serial, self._callers = 64, count(), 0
        self._calls: queue.SimpleQueue[Watched] = queue.SimpleQueue()
        self._awake_at: float | None = None  # until when the timekeeper sleeps; None: there is none

    def watch(self, watched: Watched) -> None:
        """Takes a grant under its care; from now on its own times and flags say what to do."""
        if self._pid != os.getpid():  # a fork copies all but the threads, and the grants are the parent's
            self._begin()
        with self._changed:
            if len(self._due) >= self._tidy_at:  # locks that are held for a moment leave their entries behind
                self._due = [entry for entry in self._due if not _is_void(entry)]
                heapq.heapify(self._due)
                self._tidy_at = 64 + 2 * len(self._due)
            self._put(watched)

    def _put(self, watched: Watched) -> None:
        """Notes when this grant wants its next look, if any; wakes the timekeeper only if it would sleep past that."""
        at = watched.next_try if watched.lost.is_set() else min(watched.next_try, watched.lease.deadline)
        watched.due = inf if watched.over else at
        if watched.due == inf:
            return
        heapq.heappush(self._due, (at, next(self._serial), watched))
        if self._awake_at is None:
            self._awake_at = 0.0
            _start(self._keep_time)
        elif at < self._awake_at:
            self._changed.notify()

    def _keep_time(self) -> None:
        """The timekeeper's life: sleep until a grant is due, look at it, put it back; end when there is none."""
        while (watched := self._next()) is not None:
            _safely(self._look, watched)
            with self._changed:
                self._put(watched)

    def _next(self) -> Watched | None:
        """The next grant whose time has come; None when nothing is under care any more."""
        with self._changed:
            while self._due:
                wait = self._due[0][0] - time.monotonic()
                if wait > 0:  # also for one that is void by now: it keeps the thread for the next grant
                    self._awake_at = self._due[0][0]
                    self._changed.wait(min(wait, LONGEST_NAP))
                elif _is_void(self._due[0]):
                    heapq.heappop(self._due)
                else:
                    self._awake_at = 0.0
                    return heapq.heappop(self._due)[2]
            self._awake_at = None
            return None

    def _look(self, watched: Watched) -> None:
        """Has its time come to be told, or to be renewed?"""
        now, lock = time.monotonic(), watched.lock
        if now >= watched.lease.deadline:
            watched.tell("expired")
            watched.over = watched.over or lock.policy != "for-ever"
        if now < watched.next_try:
            return
        # set as if the call would hang, for then there is a second attempt; a call that ends sets it anew
        watched.next_try = now + lock.budget + lock.interval if watched.may_try() else inf
        with self._changed:
            if watched.next_try < inf and watched.calls < 2:
                watched.calls += 1
                self._calls.put(watched)
                if self._callers < self.threads:
                    self._callers += 1
                    _start(self._call)

    def _call(self) -> None:
        """A caller's life: one renewal after the other. What goes wrong with one grant stays with that grant."""
        while True:
            try:
                watched = self._calls.get(timeout=LINGER)
            except queue.Empty:
                with self._changed:
                    if self._calls.empty():
                        self._callers -= 1
                        return
                continue
            _safely(self._renew, watched)
            with self._changed:
                watched.calls -= 1
                self._put(watched)

    def _renew(self, watched: Watched) -> None:
        lock = watched.lock
        if not watched.may_try():
            return
        try:
            lock.extend(watched.lease)  # which notes what has become of the grant
        except LeaseLost:
            return
        except Exception as error:
            watched.failures += 1
            watched.stopped = lock.policy == "first-error"
            watched.next_try = time.monotonic() + lock.retry
            if not isinstance(error, (RedisError, OSError)):
                raise  # no trouble with the server but a bug, so it is shown; the renewal goes on
        else:
            watched.failures = 0
            watched.rest()


def _is_void(entry: tuple[float, int, Watched]) -> bool:
    return entry[2].over or entry[0] != entry[2].due


def _start(work: Callable[[], None]) -> None:
    threading.Thread(target=work, name="watchdog", daemon=True).start()


def _safely(call: Callable[[Watched], None], watched: Watched) -> None:
    """One poisoned grant must not end the renewal of all the others."""
    try:
        call(watched)
    except Exception as error:
        here = threading.current_thread()
        threading.excepthook(threading.ExceptHookArgs((type(error), error, error.__traceback__, here)))
