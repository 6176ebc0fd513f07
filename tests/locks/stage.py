"""The stage on which locks meet faults: a world with one server, and client A as the one whose code a test is."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from labkit.locks import SafeLock
from labkit.sim import Fate, Packet, World

ONCE: dict[str, Any] = {"retry": Retry(NoBackoff(), 0), "socket_timeout": 0.5}  # a client that does not ask twice


class Stage:
    """A world with one server, on which client A plays a scenario."""

    def __init__(self) -> None:
        self.world = World()
        self.world.server("redis")
        self.bystander = self.redis("bystander")

    def redis(self, client: str = "B", **options: Any) -> Redis:
        return self.world.client(client).redis(**options)

    def lock(self, client: str = "A", ttl: float = 10.0, **options: Any) -> SafeLock:
        """A lock on «stock» whose scripts are loaded already, so that the faults meet what the scenario is about."""
        lock = SafeLock(self.redis(client, **options), "stock", ttl=ttl, poll=0.1)
        lock._prepare()
        return lock

    def arm(self, fault: Any) -> None:
        self.world.arm(fault)

    def swallow(self, client: str) -> None:
        """From now on nothing that this client sends is executed or answered."""
        self.world.rule(lambda packet: Fate(lost=True) if packet.client == client else None)

    def requests(self) -> list[str]:
        """The commands that are sent from now on."""
        names = list[str]()

        def note(packet: Packet) -> None:
            if packet.direction == "request":
                names.append(packet.name)

        self.world.rule(note)
        return names

    def holder(self) -> str | None:
        value = self.bystander.get("stock")
        return None if value is None else value.decode()

    def rest(self, seconds: float) -> None:
        """Lets virtual time go by."""
        time.sleep(seconds)

    def play(self, scenario: Callable[[Stage], None]) -> None:
        """Runs a scenario as the code of client A."""
        self.world.client("A").start(lambda me: scenario(self))
        self.world.run()


@pytest.fixture
def stage() -> Iterator[Stage]:
    place = Stage()
    yield place
    place.world.close()


Scenario = Callable[[Stage], None]


def played(scenario: Scenario) -> Scenario:
    """A test that is the code of client A."""

    def test(stage: Stage) -> None:
        stage.play(scenario)

    test.__doc__ = scenario.__doc__
    return test


def taken(lock: Any) -> Any:
    """The lease of a lock that must be free."""
    lease = lock.try_acquire()
    assert lease is not None
    return lease


class Field(dict[str, tuple[str, str, Scenario]]):
    """Scenarios by number: what happens, what is right, and the code that shows it. Called, it enters one."""

    def __call__(self, number: str, what: str, right: str) -> Callable[[Scenario], Scenario]:
        def enter(scenario: Scenario) -> Scenario:
            assert number not in self
            self[number] = (what, right, scenario)
            return scenario

        return enter
