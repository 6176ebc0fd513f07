"""What every test gets: a progress file of its own, and, for those that ask, a real Redis.

A test that takes `real_redis` is marked `real_redis`. Where no Redis can be had it is skipped with the reason; where
services are promised (CI, or LABKIT_REQUIRE_SERVICES), a missing one fails it, so that nothing passes by not running.
"""

import os
from collections.abc import Iterator
from typing import NoReturn

import pytest

from labkit.live import NOT_FOUND, RedisNotFound, RedisServer, find_redis, mask


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """`-m "not real_redis"` leaves out whoever needs the server, also where the mark was forgotten."""
    for item in items:
        if {"real_redis", "real_redis_server"} & set(getattr(item, "fixturenames", ())):
            item.add_marker("real_redis")


@pytest.fixture(scope="session", autouse=True)
def labkit_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """No test reads or writes the progress of whoever runs it."""
    with pytest.MonkeyPatch.context() as patch:
        home = str(tmp_path_factory.mktemp("labkit-home"))
        patch.setenv("LABKIT_HOME", home)
        yield home


@pytest.fixture(scope="session")
def real_redis_server() -> Iterator[RedisServer]:
    """One real Redis for the whole session; it may be asked for anything but to stop."""
    if find_redis_or_fail() is None:
        missing(NOT_FOUND)
    with RedisServer() as server:
        with server.client() as client:
            keys = client.dbsize()
        if keys:
            pytest.fail(f"{mask(server.url)} holds {keys} keys and tests empty it: name an empty database.", False)
        yield server


@pytest.fixture
def real_redis(real_redis_server: RedisServer) -> Iterator[RedisServer]:
    """A real Redis with no key in it: `real_redis.client()` is a redis-py client, `real_redis.url` its address."""
    yield real_redis_server
    with real_redis_server.client() as client:
        client.flushdb()


def find_redis_or_fail() -> object:
    """A server that was named and does not answer is a mistake to be told, never a reason to skip."""
    try:
        return find_redis()
    except RedisNotFound as error:
        pytest.fail(str(error), pytrace=False)


def missing(reason: str) -> NoReturn:
    """Skip, saying why; fail where the services were promised."""
    if services_promised():
        pytest.fail(f"Services are required here (CI or LABKIT_REQUIRE_SERVICES). {reason}", pytrace=False)
    pytest.skip(reason)


def services_promised() -> bool:
    """Whether somebody vouched that every service is here."""
    return any(os.environ.get(name, "").lower() not in ("", "0", "false") for name in ("CI", "LABKIT_REQUIRE_SERVICES"))
