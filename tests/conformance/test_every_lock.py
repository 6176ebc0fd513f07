"""What each lock owes, asked of each lock, in the world and on a real Redis."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from redis.exceptions import ResponseError

from labkit.locks import Lease, LeaseLost, Misuse, NotAcquired
from tests.conformance.arena import Arena

Kind = Any

# -- the grant ---------------------------------------------------------------------------------------------------------


def test_a_grant_stores_its_token(arena: Arena, kind: Kind) -> None:
    lease = kind(arena.client(), "stock").try_acquire()
    assert arena.bystander.get("stock") == lease.token.encode()


def test_each_acquisition_has_a_token_of_its_own(arena: Arena, kind: Kind) -> None:
    lock = kind(arena.client(), "stock")
    tokens = set()
    for _ in range(3):
        lease = lock.try_acquire()
        tokens.add(lease.token)
        lock.release(lease)
    assert len(tokens) == 3


def test_the_key_has_an_expiry_at_every_instant(arena: Arena, kind: Kind) -> None:
    client, seen = arena.client(), set[int]()
    arena.watch(client, lambda: seen.add(arena.bystander.pttl("stock")))
    lock = kind(client, "stock", ttl=10)
    lease = lock.try_acquire()
    lock.release(lock.extend(lease))
    assert all(pttl == -2 or 0 < pttl <= 10_000 for pttl in seen)


def test_half_a_second_is_500_milliseconds(arena: Arena, kind: Kind) -> None:
    client, seen = arena.client(), list[int]()
    arena.watch(client, lambda: seen.append(arena.bystander.pttl("stock")))
    kind(client, "stock", ttl=0.5).try_acquire()
    assert 250 < max(seen) <= 500


def test_the_deadline_is_not_later_than_the_servers_expiry(arena: Arena, kind: Kind) -> None:
    lease = kind(arena.client(), "stock").try_acquire()
    left = arena.bystander.pttl("stock") / 1000
    assert lease.deadline <= time.monotonic() + left


def test_replies_may_be_decoded(arena: Arena, kind: Kind) -> None:
    lock = kind(arena.client(decode_responses=True), "stock")
    lease = lock.try_acquire()
    assert lock.try_acquire() is None
    lock.release(lock.extend(lease))
    assert not arena.bystander.exists("stock")


# -- a lock that is taken ----------------------------------------------------------------------------------------------


def test_a_taken_lock_is_not_granted(arena: Arena, kind: Kind) -> None:
    arena.steal("stock")
    assert kind(arena.client(), "stock").try_acquire() is None
    assert arena.is_stolen("stock")


def test_a_value_that_is_no_text_counts_as_taken(arena: Arena, kind: Kind) -> None:
    arena.bystander.set("stock", b"\xff\xfe")
    assert kind(arena.client(), "stock").try_acquire() is None


@pytest.mark.parametrize("taken", [False, True], ids=["free", "taken"])
def test_no_time_to_wait_means_exactly_one_try(arena: Arena, kind: Kind, taken: bool) -> None:
    if taken:
        arena.steal("stock")
    client = arena.client()
    commands = arena.watch(client, lambda: None)
    assert (kind(client, "stock").acquire(0) is None) == taken
    assert sum(name in ("SET", "SETNX") for name in commands) == 1


def test_waiting_ends(arena: Arena, kind: Kind) -> None:
    arena.steal("stock")
    lock, began = kind(arena.client(), "stock", poll=0.01), time.monotonic()
    assert lock.acquire(0.03) is None
    assert arena.real or time.monotonic() - began < 0.04  # one call more than asked for; virtual time is exact


def test_a_waiter_gets_the_lock_when_it_is_free(arena: Arena, kind: Kind) -> None:
    first, second, got = kind(arena.client(), "stock"), kind(arena.client(), "stock", poll=0.005), list[Any]()
    lease = first.try_acquire()
    waiter = threading.Thread(target=lambda: got.append(second.acquire(5)))
    waiter.start()
    first.release(lease)
    waiter.join()
    assert arena.bystander.get("stock") == got[0].token.encode()


def test_a_key_of_another_type_is_misuse(arena: Arena, kind: Kind) -> None:
    if kind.__name__ == "RedisPyLock":
        pytest.skip("redis-py's Lock knows no such error")
    arena.bystander.hset("stock", "apples", 3)
    with pytest.raises(Misuse):
        kind(arena.client(), "stock").try_acquire()
    assert arena.bystander.hgetall("stock") == {b"apples": b"3"}


# -- the release -------------------------------------------------------------------------------------------------------


def test_a_release_frees_the_lock(arena: Arena, kind: Kind) -> None:
    lock = kind(arena.client(), "stock")
    lock.release(lock.try_acquire())
    assert kind(arena.client(), "stock").try_acquire() is not None


def test_releasing_an_expired_lease_is_told(arena: Arena, kind: Kind) -> None:
    lock = kind(arena.client(), "stock", ttl=1)
    lease = lock.try_acquire()
    arena.let_expire("stock")
    with pytest.raises(LeaseLost) as lost:
        lock.release(lease)
    assert lost.value.reason == "expired"


def test_releasing_a_stolen_lease_is_told(arena: Arena, kind: Kind) -> None:
    lock = kind(arena.client(), "stock")
    lease = lock.try_acquire()
    arena.steal("stock")
    with pytest.raises(LeaseLost) as lost:
        lock.release(lease)
    assert lost.value.reason == "stolen"


def test_a_late_release_leaves_the_others_lock_alone(arena: Arena, kind: Kind) -> None:
    lock = kind(arena.client(), "stock")
    lease = lock.try_acquire()
    arena.steal("stock")
    try:
        lock.release(lease)
    except LeaseLost:
        pass
    assert arena.is_stolen("stock")


def test_a_repeated_release_is_no_loss(arena: Arena, kind: Kind) -> None:
    lock = kind(arena.client(), "stock")
    lease = lock.try_acquire()
    lock.release(lease)
    lock.release(lease)  # as a client library does when the first reply was lost


def test_a_repeated_release_leaves_the_next_holder_alone(arena: Arena, kind: Kind) -> None:
    lock = kind(arena.client(), "stock")
    lease = lock.try_acquire()
    lock.release(lease)
    following = lock.try_acquire()
    try:
        lock.release(lease)
    except LeaseLost:
        pass
    assert arena.bystander.get("stock") == following.token.encode()


def test_a_release_works_after_the_scripts_were_flushed(arena: Arena, kind: Kind) -> None:
    lock = kind(arena.client(), "stock")
    lease = lock.try_acquire()
    arena.bystander.script_flush()
    lock.release(lease)
    assert not arena.bystander.exists("stock")


def test_nothing_stays_for_good(arena: Arena, kind: Kind) -> None:
    lock = kind(arena.client(), "stock")
    lock.release(lock.try_acquire())
    left = {key: arena.bystander.pttl(key) for key in arena.bystander.scan_iter()}
    assert all(0 < pttl <= 60_000 for pttl in left.values()), left


def test_a_release_of_another_locks_lease_is_misuse(arena: Arena, kind: Kind) -> None:
    if kind.__name__ == "RedisPyLock":
        pytest.skip("redis-py's Lock has no leases")
    apples, pears = kind(arena.client(), "apples"), kind(arena.client(), "pears")
    lease = apples.try_acquire()
    with pytest.raises(Misuse):
        pears.release(lease)


# -- the extension -----------------------------------------------------------------------------------------------------


def test_an_extension_gives_a_full_ttl_under_the_same_token(arena: Arena, kind: Kind) -> None:
    lock = kind(arena.client(), "stock", ttl=10)
    lease = lock.try_acquire()
    arena.bystander.pexpire("stock", 1_000)
    longer = lock.extend(lease)
    assert 1_000 < arena.bystander.pttl("stock") <= 10_000
    assert longer.deadline > lease.deadline
    assert longer.token == lease.token


@pytest.mark.parametrize("which", ["first", "latest"])
def test_any_lease_of_a_grant_can_be_released(arena: Arena, kind: Kind, which: str) -> None:
    lock = kind(arena.client(), "stock")
    lease = lock.try_acquire()
    longer = lock.extend(lease)
    lock.release(lease if which == "first" else longer)
    assert not arena.bystander.exists("stock")


def test_extending_an_expired_lease_is_told(arena: Arena, kind: Kind) -> None:
    lock = kind(arena.client(), "stock", ttl=1)
    lease = lock.try_acquire()
    arena.let_expire("stock")
    with pytest.raises(LeaseLost) as lost:
        lock.extend(lease)
    assert not arena.bystander.exists("stock")
    assert lost.value.reason == "expired"


def test_extending_a_stolen_lease_is_told(arena: Arena, kind: Kind) -> None:
    lock = kind(arena.client(), "stock", ttl=100)
    lease = lock.try_acquire()
    arena.steal("stock")
    with pytest.raises(LeaseLost) as lost:
        lock.extend(lease)
    assert arena.is_stolen("stock")
    assert lost.value.reason == "stolen"


# -- holding -----------------------------------------------------------------------------------------------------------


def test_holding_takes_the_lock_and_frees_it(arena: Arena, kind: Kind) -> None:
    with kind(arena.client(), "stock").hold(0) as lease:
        assert arena.bystander.get("stock") == lease.token.encode()
    assert not arena.bystander.exists("stock")


def test_the_body_never_runs_without_a_lease(arena: Arena, kind: Kind) -> None:
    arena.steal("stock")
    ran = False
    with pytest.raises(NotAcquired), kind(arena.client(), "stock").hold(0):
        ran = True
    assert not ran


def test_leaving_after_a_loss_is_told(arena: Arena, kind: Kind) -> None:
    with pytest.raises(LeaseLost), kind(arena.client(), "stock").hold(0):
        arena.steal("stock")


def test_an_error_of_the_body_is_not_hidden_by_a_loss(arena: Arena, kind: Kind) -> None:
    with pytest.raises(ZeroDivisionError), kind(arena.client(), "stock").hold(0):
        arena.steal("stock")
        _ = 1 / 0


def test_an_error_of_the_body_frees_the_lock(arena: Arena, kind: Kind) -> None:
    with pytest.raises(ZeroDivisionError), kind(arena.client(), "stock").hold(0):
        _ = 1 / 0
    assert not arena.bystander.exists("stock")


# -- many users, and users with few rights -----------------------------------------------------------------------------


def test_one_object_serves_many_threads(arena: Arena, kind: Kind) -> None:
    lock, client, errors = kind(arena.client(), "stock", poll=0.002), arena.client(), list[Exception]()

    def sell() -> None:
        try:
            for _ in range(5):
                with lock.hold(30):
                    client.set("sold", int(client.get("sold") or 0) + 1)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=sell) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (errors, client.get("sold")) == ([], b"20")


@pytest.mark.parametrize(
    ("rules", "what"),
    [(("~*", "+@all", "-@scripting"), "scripts"), (("~stock", "+@all"), "receipts")],
    ids=["no-scripts", "no-receipts"],
)
def test_a_user_without_the_rights_learns_it_before_anything_is_locked(
    arena: Arena, kind: Kind, rules: tuple[str, ...], what: str
) -> None:
    if not arena.real:
        pytest.skip("the simulated server does not enforce categories of commands")
    lock = kind(arena.user("newcomer", *rules), "stock")
    try:
        lock.release(lock.try_acquire())
    except ResponseError:
        pass
    assert not arena.bystander.exists("stock")


def test_a_lease_is_needed(arena: Arena, kind: Kind) -> None:
    if kind.__name__ == "RedisPyLock":
        pytest.skip("redis-py's Lock has no leases")
    lock = kind(arena.client(), "stock")
    arena.steal("stock")
    for verb in (lock.extend, lock.release):
        with pytest.raises((Misuse, AttributeError)):
            verb(None)
    assert arena.is_stolen("stock")


def test_a_made_up_lease_opens_nothing(arena: Arena, kind: Kind) -> None:
    lock = kind(arena.client(), "stock")
    arena.steal("stock")
    with pytest.raises(LeaseLost):
        lock.release(Lease("stock", "made up", None, time.monotonic() + 10))
    assert arena.is_stolen("stock")
