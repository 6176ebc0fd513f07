"""What Redlock promises while a majority of its nodes behaves: the same tests in the world and on five real servers."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from typing import Any

import pytest
from redis.exceptions import ConnectionError, TimeoutError

from labkit.live import NOT_FOUND, RedisServer, find_binary
from labkit.locks import LeaseLost, Misuse, Nodes, NotAcquired, Redlock, TooManyExtensions
from tests.conftest import missing
from tests.locks.five import Five, RealFive, WorldFive, on_five


@pytest.fixture(scope="module")
def five_servers() -> Iterator[list[RedisServer]]:
    found = find_binary()
    if found is None:
        missing(NOT_FOUND)
    with ExitStack() as stack:
        yield [stack.enter_context(RedisServer(found=found)) for _ in range(5)]


@pytest.fixture(params=["world", pytest.param("real", marks=pytest.mark.real_redis)])
def five(request: pytest.FixtureRequest) -> Iterator[Five]:
    place = WorldFive() if request.param == "world" else RealFive(request.getfixturevalue("five_servers"))
    yield place
    place.close()


@pytest.fixture
def real_five(five_servers: list[RedisServer]) -> Iterator[RealFive]:
    place = RealFive(five_servers)
    yield place
    place.close()


def taken(lock: Redlock) -> Any:
    lease = lock.try_acquire()
    assert lease is not None
    return lease


# -- taking and giving back --------------------------------------------------------------------------------------------


@on_five
def test_a_grant_is_on_every_node_under_one_token_of_its_own(five: Five) -> None:
    first = taken(lock := Redlock(five.clients(), "stock"))
    assert five.holders() == [first.token] * 5
    lock.release(first)
    assert taken(lock).token != first.token


@on_five
def test_a_lease_is_counted_from_before_the_first_request_and_less_the_drift(five: Five) -> None:
    before = time.monotonic()
    lease = taken(Redlock(five.clients(), "stock", ttl=10))
    assert before + 10 - 0.102 <= lease.deadline <= time.monotonic() + 10 - 0.102


@on_five
def test_a_lock_that_a_majority_has_is_refused_and_nothing_is_left_of_the_attempt(five: Five) -> None:
    five.hold(0, 2, 4)
    assert Redlock(five.clients(), "stock").try_acquire() is None
    assert five.holders() == ["somebody else", None] * 2 + ["somebody else"]


@on_five
def test_a_majority_is_enough(five: Five) -> None:
    five.hold(0, 4)
    lock = Redlock(five.clients(), "stock")
    lease = taken(lock)
    assert five.holders() == ["somebody else", *[lease.token] * 3, "somebody else"]
    lock.release(lease)
    assert five.holders() == ["somebody else", None, None, None, "somebody else"]


@on_five
def test_a_release_frees_all_nodes(five: Five) -> None:
    lock = Redlock(five.clients(), "stock")
    lock.release(taken(lock))
    assert five.holders() == [None] * 5


@on_five
def test_a_repeated_release_is_no_loss(five: Five) -> None:
    lock = Redlock(five.clients(), "stock")
    lease = taken(lock)
    lock.release(lease)
    lock.release(lease)
    assert five.holders() == [None] * 5


@on_five
def test_scripts_that_were_flushed_are_sent_anew(five: Five) -> None:
    lock = Redlock(five.clients(), "stock")
    lock.release(lock.extend(taken(lock)))
    lease = taken(lock)
    for bystander in five.bystanders[1:4]:
        bystander.script_flush()
    lock.release(lock.extend(lease))
    assert five.holders() == [None] * 5


@on_five
def test_holding_frees_the_lock_and_needs_it(five: Five) -> None:
    lock = Redlock(five.clients(), "stock")
    with lock.hold(0), pytest.raises(NotAcquired), lock.hold(0):
        raise AssertionError("The body ran without a lease.")
    assert five.holders() == [None] * 5


# -- outcomes are told apart -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["extend", "release"])
@pytest.mark.parametrize(
    ("reason", "stolen", "gone"), [("stolen", (0, 1, 2), ()), ("expired", (), (1, 2, 3)), ("lost", (0, 1), (2,))]
)
@on_five
def test_a_loss_is_told_by_its_reason(five: Five, verb: str, reason: str, stolen: Any, gone: Any) -> None:
    lock = Redlock(five.clients(), "stock")
    lease = taken(lock)
    five.hold(*stolen)
    five.forget(*gone)
    with pytest.raises(LeaseLost) as lost:
        getattr(lock, verb)(lease)
    assert lost.value.reason == reason
    assert lease.token not in five.holders()
    assert five.holders().count("somebody else") == len(stolen)


@pytest.mark.parametrize("verb", ["extend", "release"])
@on_five
def test_a_minority_that_has_lost_it_does_no_harm(five: Five, verb: str) -> None:
    lock = Redlock(five.clients(), "stock")
    lease = taken(lock)
    five.hold(0)
    five.forget(1)
    getattr(lock, verb)(lease)


@on_five
def test_an_extension_gives_a_full_ttl_under_the_same_token(five: Five) -> None:
    lock = Redlock(five.clients(), "stock", ttl=10)
    lease = taken(lock)
    for bystander in five.bystanders:
        bystander.pexpire("stock", 2_000)
    longer = lock.extend(lease)
    assert longer.token == lease.token
    assert longer.deadline > lease.deadline
    assert all(bystander.pttl("stock") > 2_000 for bystander in five.bystanders)


@on_five
def test_an_extension_takes_no_node_that_is_not_ours(five: Five) -> None:
    lock = Redlock(five.clients(), "stock")
    lease = taken(lock)
    five.forget(3)
    lock.extend(lease)
    assert five.holders()[3] is None


@on_five
def test_extensions_are_counted_and_end(five: Five) -> None:
    lock = Redlock(five.clients(), "stock", max_extensions=2)
    lease = lock.extend(lock.extend(taken(lock)))
    with pytest.raises(TooManyExtensions, match="2 times at most"):
        lock.extend(lease)
    lock.release(lease)


@on_five
def test_a_lease_of_another_lock_is_misuse(five: Five) -> None:
    apples, pears = (Redlock(five.clients(), name) for name in ("apples", "pears"))
    lease = taken(apples)
    with pytest.raises(Misuse):
        pears.release(lease)


@on_five
def test_a_key_that_is_no_lock_is_misuse(five: Five) -> None:
    lock = Redlock(five.clients(), "stock")
    lease = taken(lock)
    for bystander in five.bystanders:
        bystander.delete("stock")
        bystander.hset("stock", "apples", 3)
    with pytest.raises(Misuse):
        lock.release(lease)


# -- nodes that are silent ---------------------------------------------------------------------------------------------


@on_five
def test_two_silent_nodes_do_no_harm(five: Five) -> None:
    lock = Redlock(five.clients(), "stock", budget=0.3)
    lock.release(taken(lock))
    five.lose(1)
    five.lose(3)
    lease = taken(lock)
    lock.release(lock.extend(lease))


@on_five
def test_silent_nodes_from_the_start_do_no_harm(five: Five) -> None:
    five.lose(0)
    five.lose(1)
    lock = Redlock(five.clients(), "stock", budget=0.3)
    lock.release(taken(lock))


@on_five
def test_three_silent_nodes_refuse_and_the_rest_is_given_back(five: Five) -> None:
    lock = Redlock(five.clients(), "stock", budget=0.3)
    lock.release(taken(lock))
    for n in (0, 1, 2):
        five.lose(n)
    assert lock.try_acquire() is None
    assert [five.bystanders[n].exists("stock") for n in (3, 4)] == [0, 0]


@pytest.mark.parametrize("verb", ["extend", "release"])
@on_five
def test_what_silent_nodes_may_know_stays_unknown(five: Five, verb: str) -> None:
    lock = Redlock(five.clients(), "stock", budget=0.3)
    lease = taken(lock)
    for n in (0, 1, 2):
        five.lose(n)
    with pytest.raises((ConnectionError, TimeoutError)):
        getattr(lock, verb)(lease)


# -- who uses it -------------------------------------------------------------------------------------------------------


@on_five
def test_one_object_serves_many_threads(five: Five) -> None:
    lock, client, errors = Redlock(five.clients(), "stock", poll=0.002), five.client(0), list[Exception]()

    def sell() -> None:
        try:
            for _ in range(3):
                with lock.hold(60):
                    client.set("sold", int(client.get("sold") or 0) + 1)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=sell) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (errors, client.get("sold")) == ([], b"12")


def test_connections_are_kept_between_rounds() -> None:
    with closing(WorldFive()) as five:

        def scenario() -> None:
            lock = Redlock(five.clients(), "stock")
            lock.release(taken(lock))
            before = list(five.world.client("A").connections)
            lock.release(lock.extend(taken(lock)))
            assert five.world.client("A").connections == before

        five.run(scenario)


def test_locks_may_share_connections() -> None:
    with closing(WorldFive()) as five:

        def scenario() -> None:
            nodes = Nodes(five.clients())
            held = [taken(Redlock(nodes, name)) for name in ("apples", "pears", "plums")]
            assert (len(held), len(five.world.client("A").connections)) == (3, 5)

        five.run(scenario)


@on_five
def test_a_forked_process_leaves_the_parents_connections_alone(five: Five, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = Redlock(five.clients(), "stock")
    lock.release(taken(lock))
    (parents,) = lock.nodes._idle
    monkeypatch.setattr("labkit.locks.nodes.os.getpid", lambda: -1)
    lock.release(taken(lock))
    assert parents not in lock.nodes._idle


@on_five
def test_a_server_that_came_back_is_connected_anew(five: Five) -> None:
    lock = Redlock(five.clients(), "stock")
    lock.release(taken(lock))
    for n in (0, 2, 4):
        five.restart(n)
    assert [node.vote for node in lock.attempt().nodes] == ["yes"] * 5
