"""Two places in which one test runs: the simulated world, and a real Redis.

A test asks an arena for clients and for what befalls a key, and is otherwise ordinary blocking code. In the world it
runs as the code of client A, in virtual time. Nowhere does it wait for real time: on the real server a key that should
run out is given one millisecond to live and watched until it is gone.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

from redis import Redis
from redis.exceptions import ConnectionError

from labkit.live import RedisServer
from labkit.sim import ClientDied, World

THIEF = "somebody else"


class Arena:
    """What both have in common. `bystander`: a client of its own, which looks and meddles. `hashes`: the kind of lock
    under test keeps its key as a hash, with the owner in a field of that name."""

    bystander: Redis
    hashes = False

    def steal(self, key: str, by: str | bytes = THIEF) -> None:
        """Somebody else holds the lock now, for a minute."""
        self.bystander.delete(key)
        if self.hashes:
            self.bystander.hset(key, "owner", by)
            self.bystander.pexpire(key, 60_000)
        else:
            self.bystander.set(key, by, px=60_000)

    def is_stolen(self, key: str) -> bool:
        """Whether the somebody else still holds it, for a minute as before."""
        return self.holder(key) == THIEF and 50_000 < self.bystander.pttl(key) <= 60_000

    def holder(self, key: str) -> str | None:
        """Whose the lock is: the token that is stored."""
        value = self.bystander.hget(key, "owner") if self.hashes else self.bystander.get(key)
        return None if value is None else value.decode()

    def put_no_lock(self, key: str) -> None:
        """The key holds something that no lock of this kind is."""
        self.bystander.set(key, "apples") if self.hashes else self.bystander.hset(key, "apples", 3)

    def is_no_lock(self, key: str) -> bool:
        """Whether what was put there still is."""
        if self.hashes:
            return self.bystander.get(key) == b"apples"
        return self.bystander.hgetall(key) == {b"apples": b"3"}

    def let_expire(self, key: str) -> None:
        """The lock's time is over: sooner than its holder would renew it."""
        self.bystander.pexpire(key, 1)
        for _ in range(100_000):
            if self.bystander.pttl(key) == -2:
                return
        raise AssertionError(f"{key} does not run out.")

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

    def user(self, name: str, *rules: str) -> Redis:
        """A client that speaks as a new user with these rules of ACL SETUSER."""
        secret = secrets.token_hex(24)
        self.bystander.execute_command("ACL", "SETUSER", name, "reset", "on", f">{secret}", *rules)
        self._users.append(name)
        client = self.client()
        client.connection_pool.connection_kwargs.update(username=name, password=secret)  # the URL has the default's
        return client

    def run(self, test: Callable[[], None]) -> None:
        test()

    def close(self) -> None:
        for name in self._users:
            self.bystander.execute_command("ACL", "DELUSER", name)
        for client in self._clients:
            client.close()
            client.execute_command = _closed  # type: ignore[method-assign]  # for whoever renews what the test has left


def _closed(*command: Any, **options: Any) -> None:
    raise ConnectionError("This test is over.")
