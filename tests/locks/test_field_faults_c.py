"""How renewal has failed in the field, as scenarios that are played in the world, each with its right outcome. It goes
on where `test_field_faults.py`, which is about acquiring and releasing, ends.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from redis.exceptions import ConnectionError, LockError

from labkit.locks import Lease, LeaseLost, ReentrantLock, SafeLock, Watchdog, WatchdogLock
from labkit.locks.compat import CompatLock
from labkit.sim import ClientDied
from tests.locks.stage import ONCE, Field, Stage, taken

FIELD = "C1 C3 C4 C6 C7 C8 C10 C12 C13 C14 C15".split()
ELSEWHERE: dict[str, str] = {}  # a number, and the reason why it cannot be played here; at present all of them can

SCENARIOS = field = Field()


def watchdog(stage: Stage, ttl: float = 10.0, name: str = "stock", **options: object) -> WatchdogLock:
    return WatchdogLock(stage.redis("A", **ONCE), name, ttl, **options)  # type: ignore[arg-type]


class FailsOnce(SafeLock):
    """A lock whose first extension meets a broken connection."""

    failed = False

    def extend(self, lease: Lease) -> Lease:
        if not self.failed:
            self.failed = True
            raise ConnectionError("Connection reset by peer")
        return super().extend(lease)


class Poisoned(SafeLock):
    """A lock whose extension has a bug."""

    def extend(self, lease: Lease) -> Lease:
        raise IndexError("pop from an empty list")


@field("C1", "Exactly one renewal fails.", "It is counted and tried again before the deadline; the lock is kept.")
def one_failure(stage: Stage) -> None:
    lock = watchdog(stage, kind=FailsOnce)
    lease = taken(lock)
    stage.rest(4)
    assert lock.watched(lease).failures == 1
    stage.rest(11)
    assert (stage.holder(), lock.watched(lease).failures) == (lease.token, 0)


@field("C3", "The lock is released, or its owner dies, between two renewals.", "No renewal is sent; free within a TTL.")
def outlived(stage: Stage) -> None:
    lock = watchdog(stage)
    lock.release(taken(lock))
    sent = stage.requests()
    stage.rest(20)
    assert sent == []
    thread = threading.Thread(target=lock.try_acquire)
    thread.start()
    thread.join()
    stage.rest(10.1)
    assert (sent, stage.holder()) == (["SET", "GET"], None)  # the grant, and this question


@field("C4", "The key is deleted behind the holder's back; then the server is out of reach.", "Told once, in time.")
def not_told(stage: Stage) -> None:
    for harm in (lambda: stage.bystander.delete("stock"), lambda: stage.swallow("A")):
        told = list[str]()
        lock = watchdog(stage, on_lost=told.append)
        taken(lock)
        harm()
        stage.rest(9.95)  # what a lease of 10 s is worth, and 50 ms
        assert told == ["expired"]
        stage.rest(30)
        assert told == ["expired"]


@field("C6", "`extend` of a lock with 10 s, 4 s later.", "Ours begins anew; the drop-in adds, or replaces if asked to.")
def adds_or_resets(stage: Stage) -> None:
    lock = stage.lock(ttl=10.0)
    lease = taken(lock)
    stage.rest(4)
    lock.extend(lease)
    assert 9_900 < stage.bystander.pttl("stock") <= 10_000
    lock.release(lease)
    compat = CompatLock(stage.redis("A"), "stock", timeout=10.0)
    compat.acquire()
    stage.rest(4)
    compat.extend(0.5)
    assert 6_400 < stage.bystander.pttl("stock") <= 6_500
    compat.extend(0.5, replace_ttl=True)
    assert 400 < stage.bystander.pttl("stock") <= 500


@field("C7", "`extend(-20)`, which has deleted the lock and said True.", "ValueError, and the lock stays.")
def negative(stage: Stage) -> None:
    compat = CompatLock(stage.redis("A"), "stock", timeout=10.0)
    compat.acquire()
    for replace in (False, True):
        with pytest.raises(ValueError, match="additional_time=-20"):
            compat.extend(-20, replace_ttl=replace)
    assert stage.bystander.pttl("stock") > 9_000


@field("C8", "Two extensions of the lease that was granted, not of the one that came back.", "Both work.")
def first_handle(stage: Stage) -> None:
    lock = stage.lock(ttl=10.0)
    lease = taken(lock)
    for _ in range(2):
        stage.rest(6)
        lock.extend(lease)
    lock.release(lease)
    assert stage.holder() is None


@field("C10", "A long lease, given back, and then a short one; two short ones, one left.", "Each has its own TTL.")
def leaked_lease(stage: Stage) -> None:
    long, short = stage.lock(ttl=3600.0), stage.lock(ttl=10.0)
    long.release(taken(long))
    short.release(taken(short))
    twice = ReentrantLock(stage.redis("A"), "stock", 10.0)
    taken(twice)
    stage.rest(4)
    twice.release(taken(twice))
    assert 9_900 < stage.bystander.pttl("stock") <= 10_000


@field("C12", "The worker hangs and its watchdog goes on.", "With a longest hold the lock is free again, and told.")
def hung_worker(stage: Stage) -> None:
    told = list[str]()
    lock = watchdog(stage, max_hold=60.0, on_lost=told.append)
    taken(lock)
    stage.rest(71)
    assert (stage.holder(), told) == (None, ["expired"])


@field("C13", "One poisoned lock among many that are renewed together.", "All the others are renewed.")
def poisoned(stage: Stage) -> None:
    dog = Watchdog(threads=1)
    taken(watchdog(stage, name="bad", kind=Poisoned, dog=dog))
    good = [watchdog(stage, name=f"good-{n}", dog=dog) for n in range(10)]
    leases = [taken(lock) for lock in good]
    stage.rest(60)
    for lock, lease in zip(good, leases, strict=True):
        lock.release(lease)


@field("C14", "The callback of a loss releases the lock, from the watchdog's own thread.", "It ends; nobody waits.")
def releases_from_inside(stage: Stage) -> None:
    told, leases = list[str](), list[Lease]()

    def on_lost(reason: str) -> None:
        with pytest.raises(LeaseLost):
            lock.release(leases[0])
        told.append(reason)

    lock = watchdog(stage, on_lost=on_lost)
    leases.append(taken(lock))
    stage.bystander.set("stock", "somebody else")
    stage.rest(5)
    assert (told, stage.holder()) == (["stolen"], "somebody else")


@field("C15", "Seconds that are no whole number, everywhere.", "The server gets milliseconds.")
def broken_seconds(stage: Stage) -> None:
    for kind in (SafeLock, ReentrantLock):
        lock = watchdog(stage, ttl=1.2345, name=kind.__name__, kind=kind, interval=0.3333, budget=0.1111, margin=0.0999)
        lease = taken(lock)
        stage.rest(0.5)
        lock.extend(lease)
        assert 1_225 < stage.bystander.pttl(kind.__name__) <= 1_235
        lock.release(lease)
    compat = CompatLock(stage.redis("A"), "stock", timeout=1.2345, blocking_timeout=0.5)
    assert compat.acquire() and compat.extend(0.1234)
    with pytest.raises(LockError):
        CompatLock(stage.redis("A"), "stock", timeout=1.5).extend(0.5)


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a poisoned lock shows is looked at in `test_watchdog.py`."""
    monkeypatch.setattr(threading, "excepthook", lambda args: None)
    return


@pytest.mark.parametrize("number", SCENARIOS)
def test_field_fault(stage: Stage, number: str) -> None:
    what, right, scenario = SCENARIOS[number]
    try:
        stage.play(scenario)
    except ClientDied as died:
        raise AssertionError(f"{number}. {what} Right: {right}") from died.__cause__


def test_every_fault_of_the_field_is_here_or_has_its_reason() -> None:
    assert sorted([*SCENARIOS, *ELSEWHERE]) == sorted(FIELD)
