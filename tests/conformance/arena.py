"""Two places in which one test runs: the simulated world, and a real Redis.

A test asks an arena for clients and for what befalls a key, and is otherwise ordinary blocking code. In the world it
runs as the code of client A, in virtual time. Nowhere does it wait for real time: on the real server a key that should
run out is given one millisecond to live and watched until it is gone.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from redis import Redis

from labkit.live import RedisServer
from labkit.sim import ClientDied, World

THIEF = "somebody else"


class Arena:
    """What both have in common. `bystander`: a client of its own, which looks and meddles."""

    bystander: Redis

    def steal(self, key: str) -> None:
        """Somebody else holds the lock now, for a minute."""
        self.bystander.set(key, THIEF, px=60_000)

    def is_stolen(self, key: str) -> bool:
        """Whether the somebody else still holds it, for a minute as before."""
        return self.bystander.get(key) == THIEF.encode() and 50_000 < self.bystander.pttl(key) <= 60_000

    def watch(self, client: Redis, look: Callable[[], None]) -> list[str]:
        """Calls `look` after each command of `client`; returns the list in which the commands are written."""
        execute, names = client.execute_command, list[str]()

        def watched(*args: Any, **options: Any) -> Any:
            names.append(str(args[0]))
            try:
                return execute(*args, **options)
            finally:
                look()

        client.execute_command = watched  # type: ignore[method-assign]
        return names


class WorldArena(Arena):
    """The simulated world; `version` is its server's."""

    real = False

    def __init__(self, version: tuple[int, ...] = (7, 0)) -> None:
        self.world = World()
        self.world.server("redis", version)
        self.bystander = self.client()

    def client(self, **options: Any) -> Redis:
        return self.world.client("A").redis(**options)

    def let_expire(self, key: str) -> None:
        time.sleep(self.bystander.pttl(key) / 1000 + 0.002)

    def run(self, test: Callable[[], None]) -> None:
        self.world.client("A").start(lambda me: test())
        try:
            self.world.run()
        except ClientDied as died:
            raise (died.__cause__ or died) from None

    def close(self) -> None:
        self.world.close()


class RealArena(Arena):
    """A real Redis, emptied after each test."""

    real = True

    def __init__(self, server: RedisServer) -> None:
        self.server = server
        self._clients: list[Redis] = []
        self._users: list[str] = []
        self.bystander = self.client()

    def client(self, **options: Any) -> Redis:
        self._clients.append(self.server.client(**options))
        return self._clients[-1]

    def let_expire(self, key: str) -> None:
        self.bystander.pexpire(key, 1)
        for _ in range(100_000):
            if self.bystander.pttl(key) == -2:
                return
        raise AssertionError(f"{key} does not run out.")

    def user(self, name: str, *rules: str) -> Redis:
        """A client that speaks as a new user with these rules of ACL SETUSER."""
        self.bystander.execute_command("ACL", "SETUSER", name, "reset", "on", ">secret", *rules)
        self._users.append(name)
        client = self.client()
        client.connection_pool.connection_kwargs.update(username=name, password="secret")  # the URL has the default's
        return client

    def run(self, test: Callable[[], None]) -> None:
        test()

    def close(self) -> None:
        for name in self._users:
            self.bystander.execute_command("ACL", "DELUSER", name)
        for client in self._clients:
            client.close()
