"""The twenty orders of two holders, against each store: what comparing, registering and the owner are each worth."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.live import RedisServer
from labkit.stores import FencedRegister, SqlFencedRegister, lost_updates
from labkit.stores.broken import OwnerlessRegister, StrictRegister, WriteOnlyRegister
from labkit.stores.interleavings import orders, play
from tests.stores.places import database, each_new, in_world

FENCES = [(1, 2), (7, 7), (9, 7)]  # in order; repeated after a failover; a zombie's that is higher
TABLE = [
    (StrictRegister, [6, 0, 6]),
    (WriteOnlyRegister, [6, 12, 6]),
    (OwnerlessRegister, [0, 12, 0]),
    (FencedRegister, [0, 0, 0]),
]


def row(kind: Any, place: Any) -> list[int]:
    make = each_new(kind, place)
    return [lost_updates(make, fences) for fences in FENCES]


def test_there_are_twenty_orders() -> None:
    assert len(set(orders())) == 20
    assert all(sorted(order) == list("AAABBB") for order in orders())


@pytest.mark.parametrize(("kind", "lost"), TABLE, ids=[kind.__name__ for kind, _ in TABLE])
def test_how_many_of_the_twenty_orders_lose_an_update(kind: Any, lost: list[int]) -> None:
    assert in_world(lambda redis: row(kind, redis)) == lost


@pytest.mark.parametrize(("kind", "lost"), TABLE, ids=[kind.__name__ for kind, _ in TABLE])
def test_it_is_the_same_on_a_real_redis(real_redis: RedisServer, kind: Any, lost: list[int]) -> None:
    with real_redis.client() as redis:
        assert row(kind, redis) == lost


def test_the_contract_in_sql_loses_none() -> None:
    assert row(SqlFencedRegister, database()) == [0, 0, 0]


def test_who_reads_before_it_registers_loses_some_by_the_same_contract() -> None:
    make = each_new(SqlFencedRegister, database())
    assert [lost_updates(make, fences, read_first=True) for fences in FENCES] == [3, 0, 3]


def test_a_store_that_is_not_new_is_refused() -> None:
    store = each_new(SqlFencedRegister, database())()
    with pytest.raises(ValueError, match="nobody has touched yet"):
        lost_updates(lambda: store, (1, 2))


def test_the_orders_in_which_one_goes_after_the_other_count_both() -> None:
    played = {p.order: p for p in play(each_new(SqlFencedRegister, database()), (1, 2))}
    assert (played["AAABBB"].accepted, played["AAABBB"].value) == (2, 2)
    assert (played["BBBAAA"].accepted, played["BBBAAA"].value) == (1, 1)  # A's token is the older one
