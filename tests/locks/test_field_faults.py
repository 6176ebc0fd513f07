"""How lock libraries have failed in the field, as scenarios that are played in the world, each with its right outcome.

`SCENARIOS` are those that a lock on one server can express; `ELSEWHERE` says of each of the others why it is not here.
A scenario is the code of client A, run in virtual time; faults are armed by the scenario itself.
The file is long because it is one table.
"""

from __future__ import annotations

import gc
import threading
import time
from typing import Any

import pytest
from redis.exceptions import TimeoutError

from labkit.faults import Crash, DropReply, DropRequest
from labkit.locks import Lease, LeaseLost, Misuse, NotAcquired, SafeLock
from labkit.locks.safe import SHA
from labkit.sim import ClientDied
from tests.locks.stage import ONCE, Field, Stage

FIELD = "A1 A2 A3 A4 A6 A7 A8 A9 A10 A11 A12 A14 A15 A17 A18 A19 A20 A21 A22".split()
FIELD += "B1 B2 B4 B5 B7 B8 B9 B10 B12 B13 B14 B15 B16".split()

ELSEWHERE = {
    "A2": "Cancellation of asyncio tasks: these locks are blocking code.",
    "A17": "A missed unlock message: these locks ask again by themselves and wait for no message.",
    "A18": "A fair queue that a waiter leaves behind: these locks have no queue.",
    "A21": "Replicas that do not acknowledge: there is one server.",
    "B8": "A user without scripts: the simulated server knows no categories; tests/conformance/test_rights.py has it.",
}


SCENARIOS = field = Field()


# -- acquire -----------------------------------------------------------------------------------------------------------


@field("A1", "The reply to the grant is lost and the client library asks again.", "The grant is recognised.")
def lost_grant(stage: Stage) -> None:
    lock = stage.lock()
    stage.arm(DropReply(on="SET", client="A"))
    lease = lock.try_acquire()
    assert lease is not None and stage.holder() == lease.token


@field(
    "A3", "Ctrl-C comes after the server has set the key and before the reply is read.", "It gets out, the key goes."
)
def interrupted(stage: Stage) -> None:
    lock = stage.lock()
    execute = lock.client.execute_command

    def interrupted_set(*command: Any, **options: Any) -> Any:
        reply = execute(*command, **options)
        if command[0] == "SET":
            raise KeyboardInterrupt
        return reply

    lock.client.execute_command = interrupted_set
    with pytest.raises(KeyboardInterrupt):
        lock.acquire(0)
    assert stage.holder() is None


@field("A4", "The server accepts and never answers; acquire(1).", "It ends after one second and two calls at most.")
def hung_server(stage: Stage) -> None:
    lock, holder = stage.lock(**ONCE), stage.lock("B")
    holder.try_acquire()
    stage.world.at(stage.world.now + 0.75, lambda: stage.swallow("A"))
    began = time.monotonic()
    with pytest.raises(TimeoutError):
        lock.acquire(1)
    assert time.monotonic() - began <= 1 + 2 * 0.5 + 0.1  # the attempt, and the attempt to leave nothing behind


@field("A6", "acquire(0) on a free lock.", "One try is always made.")
def no_time(stage: Stage) -> None:
    assert stage.lock().acquire(0) is not None


@field("A7", "A TTL of 0, which elsewhere has meant «for ever».", "ValueError when the lock is made.")
def no_ttl(stage: Stage) -> None:
    with pytest.raises(ValueError, match="ttl=0"):
        stage.lock(ttl=0)


@field("A8", "A TTL of 0.4 ms, then of half a second.", "The first is refused before any I/O; the second is 500 ms.")
def short_ttl(stage: Stage) -> None:
    with pytest.raises(ValueError, match=r"ttl=0\.0004"):
        SafeLock(None, "stock", ttl=0.0004)
    stage.lock(ttl=0.5).try_acquire()
    assert 495 < stage.bystander.pttl("stock") <= 500


@field("A9", "A TTL of half a millisecond, which has meant «granted» without a key.", "Refused; nothing is granted.")
def half_a_millisecond(stage: Stage) -> None:
    with pytest.raises(ValueError, match=r"ttl=0\.0005"):
        stage.lock(ttl=0.0005).try_acquire()
    assert stage.holder() is None


@field("A10", "No TTL at all, which has let two clients in.", "ValueError when the lock is made.")
def ttl_is_none(stage: Stage) -> None:
    with pytest.raises(ValueError, match="ttl=None"):
        stage.lock(ttl=None)  # type: ignore[arg-type]


@field("A11", "A TTL that is no whole number.", "The key and its expiry come together, to the millisecond.")
def broken_ttl(stage: Stage) -> None:
    lock, sent = stage.lock(ttl=1.2345), stage.requests()
    lock.try_acquire()
    assert sent == ["SET"]
    assert 1229 < stage.bystander.pttl("stock") <= 1235


@field("A12", "The process dies while it acquires, at any moment.", "No key is ever without an expiry.")
def dies_while_acquiring(stage: Stage) -> None:
    expiries = set[int]()
    for n in range(25):
        victim = f"victim-{n}"
        stage.world.client(victim).start(lambda me: SafeLock(me.redis(), "stock").acquire(0))
        stage.arm(Crash(victim, at=stage.world.now + n * 0.0002))
        time.sleep(0.01)
        expiries.add(stage.bystander.pttl("stock"))
        stage.bystander.delete("stock")
    assert -1 not in expiries  # no key without an expiry
    assert -2 in expiries and len(expiries) > 1  # some died before the grant, some after it


@field(
    "A14", "The holder of a lease of 1 s dies; another waits without a limit.", "It gets the lock when that runs out."
)
def waits_for_the_dead(stage: Stage) -> None:
    stage.lock("dead", ttl=1.0).try_acquire()
    stage.arm(Crash("dead", at=stage.world.now))
    lock, began = stage.lock(), time.monotonic()
    assert lock.acquire() is not None
    assert 0.9 < time.monotonic() - began <= 1.0 + 0.1 + 0.01  # the TTL, one pause, one call


@field("A15", "acquire(8) by a client with redis-py's default time-out of 5 s; the lock is taken.", "None after 8 s.")
def waits_longer_than_the_socket(stage: Stage) -> None:
    stage.lock("B", ttl=60.0).try_acquire()
    lock, began = stage.lock(), time.monotonic()
    assert lock.acquire(8) is None
    assert 8.0 <= time.monotonic() - began <= 8.01


@field("A19", "`with lock.hold()` while another holds it.", "It raises, and the body never runs.")
def busy_body(stage: Stage) -> None:
    stage.lock("B").try_acquire()
    with pytest.raises(NotAcquired), stage.lock().hold(0.3):
        pytest.fail("The body runs.")


@field("A20", "B holds the lock; A's attempt ends unknown and A cleans up.", "B's key is untouched.")
def cleans_up(stage: Stage) -> None:
    held = stage.lock("B").try_acquire()
    lock = stage.lock(**ONCE)
    stage.arm(DropReply(on="SET", client="A"))
    with pytest.raises(TimeoutError):
        lock.try_acquire()
    assert held is not None and stage.holder() == held.token


@field("A22", "The key holds a hash.", "Misuse, whatever is asked, and the hash stays.")
def another_type(stage: Stage) -> None:
    stage.bystander.hset("stock", "apples", 3)
    lock = stage.lock()
    for call in (lock.try_acquire, lambda: lock.extend(lease()), lambda: lock.release(lease())):
        with pytest.raises(Misuse, match="'stock' holds something that is no lock"):
            call()
    assert stage.bystander.hgetall("stock") == {b"apples": b"3"}


# -- release -----------------------------------------------------------------------------------------------------------


def lease(token: str | None = "made up") -> Lease:
    return Lease("stock", token, None, time.monotonic() + 10)  # type: ignore[arg-type]


@field("B1", "The request to release is lost, and the client does not ask again.", "A second release succeeds.")
def release_again(stage: Stage) -> None:
    lock = stage.lock(**ONCE)
    held = lock.try_acquire()
    assert held is not None
    stage.arm(DropRequest(on="EVALSHA", client="A"))
    with pytest.raises(TimeoutError):
        lock.release(held)
    assert stage.holder() == held.token
    lock.release(held)
    assert stage.holder() is None


@field("B2", "The reply to the release is lost and asked for again, later than the TTL.", "Released, and no loss.")
def lost_release(stage: Stage) -> None:
    lock = stage.lock(ttl=1.0)
    held = lock.try_acquire()
    assert held is not None
    stage.arm(DropReply(on="EVALSHA", client="A"))
    lock.release(held)
    assert stage.holder() is None


@field(
    "B4", "A's lease runs out, another flow gets the same object's lock, A releases.", "A is told; the other keeps it."
)
def shared_object(stage: Stage) -> None:
    lock = stage.lock(ttl=0.3)
    first = lock.try_acquire()
    time.sleep(0.4)
    second = lock.try_acquire()
    assert first is not None and second is not None
    with pytest.raises(LeaseLost, match="somebody else holds the lock"):
        lock.release(first)
    assert stage.holder() == second.token


@field("B5", "Acquired in one thread; extended and released in another.", "It works: the lease is what is held.")
def another_thread(stage: Stage) -> None:
    lock, errors = stage.lock(), list[Exception]()
    held = lock.try_acquire()
    assert held is not None

    def work() -> None:
        try:
            lock.release(lock.extend(held))
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert (errors, stage.holder()) == ([], None)


@field("B7", "The key runs out, so that leaving raises; another thread wants the same object.", "It gets the lock.")
def no_local_mutex(stage: Stage) -> None:
    lock, got = stage.lock(ttl=0.3), list[Any]()
    with pytest.raises(LeaseLost, match="not on the server"), lock.hold(0):
        time.sleep(0.4)
    thread = threading.Thread(target=lambda: got.append(lock.acquire(0)))
    thread.start()
    thread.join()
    assert got[0] is not None


@field("B9", "The server forgets its scripts, by a flush or by a restart with its data.", "The release works.")
def scripts_are_gone(stage: Stage) -> None:
    lock = stage.lock(ttl=30.0)
    for forget in (stage.bystander.script_flush, lambda: stage.world.restart("redis", keep_data=True)):
        held = lock.try_acquire()
        assert held is not None
        forget()
        time.sleep(1)
        lock.release(held)
        assert stage.holder() is None


@field("B10", "A script's name is computed by the client.", "It equals what the server calls it.")
def names_of_scripts(stage: Stage) -> None:
    stage.lock()
    assert stage.bystander.script_exists(*SHA.values()) == [True, True]


@field("B12", "The lease has run out; then extend, then release.", "Both say so, and nothing is brought back.")
def after_the_end(stage: Stage) -> None:
    lock = stage.lock(ttl=0.3)
    held = lock.try_acquire()
    time.sleep(0.4)
    for call in (lock.extend, lock.release):
        with pytest.raises(LeaseLost, match="not on the server"):
            call(held)  # type: ignore[arg-type]
    assert stage.holder() is None


@field("B13", "A client that is set to no retries at all.", "Acquire, extend and release work.")
def no_retries(stage: Stage) -> None:
    lock = stage.lock(**ONCE)
    held = lock.try_acquire()
    assert held is not None
    lock.release(lock.extend(held))
    assert stage.holder() is None


@field("B14", "A helper acquires and lets go of lock and lease, keeping the token.", "The lock stays taken.")
def garbage(stage: Stage) -> None:
    def helper() -> str:
        held = stage.lock().try_acquire()
        assert held is not None
        return held.token

    token = helper()
    gc.collect()
    assert stage.holder() == token


@field("B15", "A lease whose token is None reaches the release.", "Refused before any I/O; the lock stays.")
def no_token(stage: Stage) -> None:
    held = stage.lock("B").try_acquire()
    lock, sent = stage.lock(), stage.requests()
    with pytest.raises(Misuse, match="a lease that it has granted"):
        lock.release(lease(None))
    assert sent == []
    assert held is not None and stage.holder() == held.token


@field("B16", "A second object of the same name releases what the first holds.", "«Somebody else holds it.»")
def not_mine(stage: Stage) -> None:
    stage.lock("B").try_acquire()
    with pytest.raises(LeaseLost, match="somebody else holds the lock"):
        stage.lock().release(lease())


# -- the tests ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", SCENARIOS)
def test_field_fault(stage: Stage, number: str) -> None:
    what, right, scenario = SCENARIOS[number]
    try:
        stage.play(scenario)
    except ClientDied as died:
        raise AssertionError(f"{number}. {what} Right: {right}") from died.__cause__


def test_every_fault_of_the_field_is_here_or_has_its_reason() -> None:
    assert sorted([*SCENARIOS, *ELSEWHERE]) == sorted(FIELD)
