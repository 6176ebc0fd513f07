"""Every lock in both arenas. A broken lock is expected to break exactly where it should: `MUST_FAIL` names, for each
lock, the tests that it has to fail and why. It is strict: a flaw that no longer shows is a failure too.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest
from redis.exceptions import ResponseError

from labkit.live import RedisServer
from labkit.locks import LOCKS, LeaseLost
from tests.conformance.arena import Arena, RealArena, WorldArena
from tests.conformance.redispy import RedisPyLock

KINDS: dict[str, type[Any]] = {**LOCKS, "redis-py": RedisPyLock}

LATE = "it does not look whose lock it deletes"
BUSY = "whatever stands in the way, it says busy"
UNTOLD = "it calls every loss by one name"
UNCOMPARED = "it extends what it finds, whoever's it is"
WHOLE = "its TTL is whole seconds, and half a second is none"
UNASKED = "its first script is sent when the lock is already taken"
MUST_FAIL: dict[str, dict[str, str]] = {
    "safe": {},
    "watchdog": {},
    "reentrant": {},
    "fenced": {},
    "fenced-seed": {
        "half_a_second_is_500_milliseconds": WHOLE,
        "a_key_of_another_type_is_misuse": BUSY,
    },
    "incr-outside": {},
    "immortal": {},  # here no thread dies
    "renew-by-name": {"extending_a_stolen_lease_is_told": UNCOMPARED},
    "renew-after-unlock": {
        "extending_a_stolen_lease_is_told": UNCOMPARED,
        "extending_an_expired_lease_is_told": UNCOMPARED,
    },
    "two-step": {
        "the_key_has_an_expiry_at_every_instant": "between its two commands the key has none",
        "a_key_of_another_type_is_misuse": BUSY,
        "a_user_without_scripts_learns_it_before_anything_is_locked": UNASKED,
        "a_user_without_receipts_learns_it_before_anything_is_locked": UNASKED,
    },
    "plain-del": {
        "releasing_an_expired_lease_is_told": LATE,
        "releasing_a_stolen_lease_is_told": LATE,
        "a_late_release_leaves_the_others_lock_alone": LATE,
        "a_repeated_release_leaves_the_next_holder_alone": LATE,
        "a_made_up_lease_opens_nothing": LATE,
        "a_lease_is_needed": LATE,
        "a_release_of_another_locks_lease_is_misuse": LATE,
        "a_key_of_another_type_is_misuse": "it says so, and its clean-up deletes that key",
        "leaving_after_a_loss_is_told": LATE,
    },
    "shared-id": {
        "each_acquisition_has_a_token_of_its_own": "one value for all who use the object",
        "a_repeated_release_leaves_the_next_holder_alone": "the next holder carries the same value",
        "a_key_of_another_type_is_misuse": BUSY,
        "a_user_without_scripts_learns_it_before_anything_is_locked": UNASKED,
        "a_user_without_receipts_learns_it_before_anything_is_locked": UNASKED,
    },
    "ghost": {
        "a_repeated_release_is_no_loss": "a 0 from its script means a loss to it",
        "releasing_a_stolen_lease_is_told": UNTOLD,
        "releasing_an_expired_lease_is_told": "its script cannot tell expired from stolen",
        "a_release_of_another_locks_lease_is_misuse": "it sends what it is given",
        "a_lease_is_needed": "it sends what it is given",
        "a_key_of_another_type_is_misuse": BUSY,
        "a_user_without_scripts_learns_it_before_anything_is_locked": UNASKED,
    },
    "redis-py": {
        "a_repeated_release_is_no_loss": "a 0 from its script means a loss to it",
        "releasing_an_expired_lease_is_told": UNTOLD,
        "releasing_a_stolen_lease_is_told": UNTOLD,
        "extending_an_expired_lease_is_told": UNTOLD,
        "extending_a_stolen_lease_is_told": UNTOLD,
        "a_release_of_another_locks_lease_is_misuse": "it has no leases",
        "a_lease_is_needed": "it has no leases",
        "a_key_of_another_type_is_misuse": BUSY,
        "a_user_without_scripts_learns_it_before_anything_is_locked": UNASKED,
    },
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test for each kind of lock, marked where the kind has to fail it."""
    if "kind" in metafunc.fixturenames:
        test = metafunc.function.__name__.removeprefix("test_")
        metafunc.parametrize(
            "kind", [pytest.param(cls, id=name, marks=_marks(name, test)) for name, cls in KINDS.items()]
        )


def _marks(name: str, test: str) -> list[pytest.MarkDecorator]:
    if test not in MUST_FAIL[name]:
        return []
    caught_by = getattr(sys.modules[KINDS[name].__module__], "CAUGHT_BY", "no check of a run")
    why, how = (
        f"{name} ({caught_by}): {MUST_FAIL[name][test]}",
        (AssertionError, pytest.fail.Exception, LeaseLost, AttributeError, ResponseError),
    )
    return [pytest.mark.xfail(strict=True, reason=why, raises=how)]


@pytest.fixture(params=["world", pytest.param("real", marks=pytest.mark.real_redis)])
def arena(request: pytest.FixtureRequest) -> Iterator[Arena]:
    """The world, then the real Redis."""
    place = WorldArena() if request.param == "world" else RealArena(request.getfixturevalue("real_redis"))
    place.hashes = getattr(_kind_of(request), "reentrant", False)
    yield place
    place.close()


def _kind_of(request: pytest.FixtureRequest) -> Any:
    return request.node.callspec.params.get("kind") if hasattr(request.node, "callspec") else None


@pytest.fixture
def real_arena(real_redis: RedisServer) -> Iterator[RealArena]:
    """The real Redis alone, for what the simulated server does not do."""
    place = RealArena(real_redis)
    yield place
    place.close()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """A test that has an arena runs inside it."""
    place = pyfuncitem.funcargs.get("arena")
    if place is None:
        return None
    names = pyfuncitem._fixtureinfo.argnames
    place.run(lambda: pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True
