"""Section three of the article: what renewal keeps, what it does not, and who is told."""

from __future__ import annotations

from typing import Any

from ..locks import WatchdogLock
from ..locks.fenced import FencedLock
from ..timeline import Timeline
from .erratum import Erratum, Run, Shown, compared, played
from .telling import found_in


class FencedWatchdog(WatchdogLock):
    """A renewed lock whose grants carry a fencing token."""

    def __init__(self, client: Any, name: str, ttl: float = 10.0, poll: float = 0.1) -> None:
        super().__init__(client, name, ttl, poll, kind=FencedLock)


class SilentWatchdog(WatchdogLock):
    """A renewed lock whose owner is not told of its loss: a renewal that is answered 0 is simply the last."""

    def __init__(self, client: Any, name: str, ttl: float = 10.0, poll: float = 0.1, **options: Any) -> None:
        super().__init__(client, name, ttl, poll, **(options | {"on_lost": None}))


def next_holder_at(second: int, before_renewal: int) -> Run:
    """Whether B gets the lock at this second, where A stands still just before this renewal of its."""

    def ask(timeline: Timeline) -> Shown:
        start = next(belief.start for belief in timeline.belief("stock") if belief.node == "B")
        why = f"A stood still before renewal {before_renewal}, and B had the lock at t = {start:.1f} s"
        return compared(second <= start < second + 2, f"{why}; the time-line of the article says T{second}.")

    return found_in("renewal-pause", ask, first=before_renewal)


ERRATA = [
    Erratum(
        number="E10",
        grade=2,
        section="3.2, the comment in the code",
        claim="With the watchdog the lock is not released unintentionally, however long the work takes.",
        truth="A pause, failed renewals, a failover, a clock or an eviction ends it. The store has to refuse whoever "
        "works on.",
        where="notebook 03, “1 · Sixty seconds of work, thirty seconds of lease”",
        wrong=played("late-write", "no_stale_write", lock="watchdog", store="unchecked"),
        right=played("late-write", "no_stale_write", lock=FencedWatchdog, store="contract"),
        source="The article's own notes below the code name two of these cases.",
    ),
    Erratum(
        number="E11",
        grade=2,
        section="3.2, step 3 and the script",
        claim="The renewal compares the lock's value; the script shown asks for a field of a hash.",
        truth="That script renews a re-entrant lock, which is a hash. Against the lock of section two, a string, it "
        "is an error: compare by GET, then PEXPIRE.",
        where="notebook 03, “7 · Renewing what is not mine”",
        wrong=played("wrong-type", "no_lost_update", script="hash"),
        right=played("wrong-type", "no_lost_update", script="string"),
    ),
    Erratum(
        number="E12",
        grade=1,
        section="3.2, steps 2 and 4",
        claim="It is renewed every 10 s, and 30 s after an unlock or a crash the lock expires.",
        truth="The next renewal is set 10 s after the last one has ended. After a crash what is left of the lease has "
        "to pass, at most 30 s; after an unlock nothing.",
        where="notebook 03, “2 · How many renewals may fail?”",
        source="Not run: it is about Redisson's timers, and no Java runs here. Redisson's source, the renewal task "
        "that schedules itself anew when it has completed.",
    ),
    Erratum(
        number="E13",
        grade=2,
        section="3.2",
        claim="The renewal ends when the client releases the lock or its process dies.",
        truth="So it goes on if the thread that works dies without a release: the lock is renewed for ever. Tie it to "
        "the thread.",
        where="notebook 03, “6 · The thread dies, the process lives”",
        wrong=played("thread-death", "not_stuck", lock="immortal"),
        right=played("thread-death", "not_stuck", lock="watchdog"),
        source="Redisson issue 3521; and issue 7272 for a renewal that outlives its unlock.",
    ),
    Erratum(
        number="E14",
        grade=1,
        section="3.2, the code",
        claim="lock() stands inside try, unlock() in finally.",
        truth="If lock() fails, unlock() throws a second exception, which hides the first: lock before try. An "
        "IllegalMonitorStateException of unlock() says that the lease was lost; do not swallow it.",
        where="notebook 03, “4 · Who is told what, and when?”",
        source="Not run: it is about Java's exceptions. The documentation of java.util.concurrent.locks.Lock shows "
        "lock() before try; Redisson's source throws IllegalMonitorStateException in unlock().",
    ),
    Erratum(
        number="E15",
        grade=1,
        section="3.3, the time-line",
        claim="Renewed at T10 until T40; a pause from T20 on; at T40 the lock expires.",
        truth="A renewal is due at T20 as well. If it has left, the lock expires at T50: the pause begins just before.",
        where="notebook 03, “3 · Standing still”",
        wrong=next_holder_at(40, before_renewal=3),
        right=next_holder_at(40, before_renewal=2),
    ),
    Erratum(
        number="E16",
        grade=2,
        section="3.3",
        claim="A wakes up and goes on. That its watchdog then learns of the loss, and what it does, is not said.",
        truth="The renewal is answered 0, and Redisson drops that without a word. A watchdog has to tell the owner, "
        "and the owner has to stop.",
        where="notebook 03, “4 · Who is told what, and when?”",
        wrong=played("renewal-pause", "no_stale_write", lock=SilentWatchdog),
        right=played("renewal-pause", "no_stale_write", lock="watchdog"),
        source="Redisson issue 4698, open since 2022, asks for a callback; newer sources have a listener for it.",
    ),
    Erratum(
        number="E17",
        grade=1,
        section="3.2, the notes",
        claim="With an explicit leaseTime the watchdog does not start.",
        truth="Right. But tryLock(5, SECONDS) sets the time to wait, and the watchdog is on; and an inner lock(10 s) "
        "cuts the TTL of an outer watched lock short until it is next renewed.",
        where="notebook 03, “8 · Coming in twice”",
        source="Not run: it is about the Java interface. Redisson's documentation and source: leaseTime > 0, which was "
        "leaseTime != -1 before.",
    ),
]
