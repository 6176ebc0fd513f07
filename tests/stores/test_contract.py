"""The fencing contract, clause by clause: one suite for the store in Redis (simulated and real) and the one in SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from redis.crc import key_slot

from labkit.faults import DropReply
from labkit.sim import World
from labkit.stores import FencedRegister, SqlFencedRegister
from labkit.stores.interleavings import Holder
from tests.stores.places import A, B, database

Make = Callable[..., Any]


@pytest.fixture(params=["world", "real", "sqlite"])
def place(request: pytest.FixtureRequest) -> Iterator[tuple[str, Any]]:
    """Where the stores of a test are: a simulated Redis, a real one, SQLite."""
    if request.param == "world":
        with World() as world:
            world.server("redis")
            yield "world", world
    elif request.param == "real":
        with request.getfixturevalue("real_redis").client() as client:
            yield "real", client
    else:
        connection = database()
        yield "sqlite", connection
        connection.close()


def contract(test: Callable[[Make], None]) -> Callable[[tuple[str, Any]], None]:
    """A test of the contract: played in the world, it is the code of client A."""

    def played(place: tuple[str, Any]) -> None:
        kind, there = place
        if kind == "world":
            client = there.client("A")
            client.start(lambda me: test(lambda *names: FencedRegister(me.redis(), *names)))
            there.run()
        else:
            store = SqlFencedRegister if kind == "sqlite" else FencedRegister
            test(lambda *names: store(there, *names))

    return played


# -- the clauses -------------------------------------------------------------------------------------------------------


@contract
def test_who_has_registered_writes(make: Make) -> None:
    store = make("stock")
    assert store.read() == 0
    assert store.register(A) is True
    assert store.write(10, A) is True
    assert store.read() == 10


@contract
def test_who_has_not_registered_is_refused_whatever_the_token(make: Make) -> None:
    store = make("stock")
    assert store.write(1, A) is False
    store.register(A)
    assert store.write(2, B) is False
    assert store.read() == 0


@contract
def test_e20_a_late_write_is_refused_before_the_new_holders_first(make: Make) -> None:
    store = make("stock")
    store.register(A)
    store.register(B)
    assert store.write(9, A) is False
    assert store.write(store.read() + 1, B) is True


@contract
def test_a_lower_token_is_refused_and_changes_nothing(make: Make) -> None:
    store = make("stock")
    store.register(B)
    assert store.register(A) is False
    assert store.write(1, B) is True


@contract
def test_e21_the_holders_second_write_passes(make: Make) -> None:
    store = make("stock")
    store.register(A)
    assert [store.write(value, A) for value in (1, 2)] == [True, True]


@contract
def test_who_registers_twice_is_the_same_holder(make: Make) -> None:
    store = make("stock")
    assert [store.register(A), store.register(A), store.write(1, A)] == [True, True, True]


@contract
def test_e22_an_equal_token_of_another_owner_is_refused(make: Make) -> None:
    store = make("stock")
    store.register(Holder("A", 7))
    assert store.register(Holder("B", 7)) is False
    assert store.write(1, Holder("B", 7)) is False
    assert store.write(1, Holder("A", 7)) is True


@contract
def test_e77_writing_what_is_there_already_is_no_refusal(make: Make) -> None:
    store = make("stock")
    store.register(A)
    assert [store.write(5, A), store.write(5, A)] == [True, True]


@contract
def test_e78_one_guard_serves_all_parts_of_the_resource(make: Make) -> None:
    order, items = make("{order}:state", "{order}"), make("{order}:items", "{order}")
    items.register(A)
    order.register(B)
    assert items.write(1, A) is False
    assert (order.write(2, B), items.write(3, B)) == (True, True)
    assert (order.read(), items.read()) == (2, 3)


@contract
def test_e26_tokens_beyond_two_to_the_53_are_told_apart(make: Make) -> None:
    store = make("stock")
    older, newer = Holder("A", 2**53), Holder("B", 2**53 + 1)
    store.register(newer)
    assert store.register(older) is False
    assert store.register(Holder("C", 9)) is False  # nor does «9» come after «90…»
    assert store.register(Holder("D", 2**63 - 1)) is True


@contract
def test_resources_do_not_guard_each_other(make: Make) -> None:
    apples, pears = make("apples"), make("pears")
    apples.register(B)
    assert pears.register(A) is True


# -- what is refused before anything is sent ---------------------------------------------------------------------------


@pytest.mark.parametrize("fence", [None, 0, -1, True, 1.5, "7", 2**63], ids=repr)
@pytest.mark.parametrize(
    "store", [FencedRegister(None, "stock"), SqlFencedRegister(database(), "stock")], ids=["r", "s"]
)
def test_a_lease_without_a_fencing_token_is_refused_by_name(store: Any, fence: Any) -> None:
    for call in (lambda: store.register(Holder("A", fence)), lambda: store.write(1, Holder("A", fence))):
        with pytest.raises(ValueError, match="is no fencing token: use a lock that mints one"):
            call()


@pytest.mark.parametrize("token", [None, "", 7], ids=repr)
def test_a_lease_without_an_owner_is_refused(token: Any) -> None:
    with pytest.raises(ValueError, match="names no owner"):
        FencedRegister(None, "stock").register(Holder(token, 1))


# -- in Redis ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["stock", "shop:{7}:stock", "a{b", "x{y}z{w}"])
def test_e24_the_guard_is_in_the_slot_of_what_it_guards(name: str) -> None:
    guard = FencedRegister(None, name).guard
    assert key_slot(guard.encode()) == key_slot(name.encode())


@pytest.mark.parametrize(("name", "guard"), [("order", "items"), ("a}b", None), ("{}", None), ("x{}{y}", None)])
def test_e24_names_that_cannot_share_a_slot_are_refused(name: str, guard: str | None) -> None:
    with pytest.raises(ValueError, match="braces"):
        FencedRegister(None, name, guard)


def test_the_guard_never_runs_out() -> None:
    with World() as world:
        world.server("redis")
        left = list[int]()

        def code(me: Any) -> None:
            store = FencedRegister(me.redis(), "stock")
            store.register(A)
            left.append(me.redis().pttl(store.guard))

        world.client("A").start(code)
        world.run()
    assert left == [-1]


@pytest.mark.parametrize("nth", [1, 2], ids=["register", "write"])
def test_a_lost_reply_that_the_client_asks_for_again_is_no_refusal(nth: int) -> None:
    answers = list[bool]()

    def code(me: Any) -> None:
        store = FencedRegister(me.redis(), "stock")
        answers.extend((store.register(A), store.write(1, A)))

    with World() as world:
        world.server("redis")
        world.client("A").start(code)
        world.arm(DropReply(on="EVAL", nth=nth, client="A"))
        assert world.run().find("drop")
    assert answers == [True, True]
