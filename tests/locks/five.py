"""Five servers, in the world and real, on which quorum locks are tried."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from labkit.live import RedisServer
from labkit.sim import ClientDied, Fate, Packet, World
from labkit.timeline import Timeline

FIVE = ("n1", "n2", "n3", "n4", "n5")
PLAIN: dict[str, Any] = {"retry": Retry(NoBackoff(), 0), "socket_timeout": 0.5, "socket_connect_timeout": 0.5}
PATIENT = PLAIN | {"socket_timeout": None}  # a client that waits for as long as it takes


def clients_of(me: Any, **options: Any) -> list[Redis]:
    return [me.redis(name, **options) for name in FIVE]


def play(*codes: Callable[[Any], Any], faults: Iterable[Any] = (), until: float = 60.0) -> Timeline:
    """Plays the codes as clients A, B, C … on five servers."""
    with World() as world:
        for name in FIVE:
            world.server(name)
        for name, code in zip("ABCDE", codes, strict=False):
            world.client(name).start(code)
        for fault in faults:
            world.arm(fault)
        return world.run(until=until)


def on_five(test: Callable[..., None]) -> Callable[..., None]:
    """A test that runs on five servers: in the world as the code of client A."""

    @wraps(test)
    def run(five: Five, **fixtures: Any) -> None:
        five.run(lambda: test(five, **fixtures))

    return run


class LateReply:
    """The command is executed at once; its reply takes `by` seconds. `nth`: only of the nth of its name."""

    def __init__(self, on: str, client: str, server: str, by: float, nth: int | None = None) -> None:
        self.of, self.by, self.nth = (on, client, server), by, nth

    def arm(self, world: World) -> None:
        world.rule(self)

    def __call__(self, packet: Packet) -> Fate | None:
        meant = packet.direction == "reply" and (packet.name, packet.client, packet.server) == self.of
        meant = meant and self.nth in (None, packet.nth)
        return Fate(after=self.by) if meant else None


class Five:
    """What tests ask of five servers."""

    def client(self, n: int) -> Redis:
        raise NotImplementedError

    def __init__(self) -> None:
        self.bystanders = [self.client(n) for n in range(5)]

    def clients(self) -> list[Redis]:
        return [self.client(n) for n in range(5)]

    def holders(self, key: str = "stock") -> list[str | None]:
        """Whose the key is, node by node."""
        values = [bystander.get(key) for bystander in self.bystanders]
        return [None if value is None else value.decode() for value in values]

    def hold(self, *nodes: int, by: str = "somebody else") -> None:
        """The key of these nodes is somebody else's."""
        for n in nodes:
            self.bystanders[n].set("stock", by, px=60_000)

    def forget(self, *nodes: int) -> None:
        for n in nodes:
            self.bystanders[n].delete("stock")

    def lose(self, n: int) -> None:
        """This node is gone, and answers nobody."""
        raise NotImplementedError

    def restart(self, n: int) -> None:
        """This node stops and is back at once, empty."""
        raise NotImplementedError

    def run(self, test: Callable[[], None]) -> None:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError


class WorldFive(Five):
    """Five servers of the world; the test is the code of client A."""

    def __init__(self) -> None:
        self.world = World()
        for name in FIVE:
            self.world.server(name)
        super().__init__()

    def client(self, n: int) -> Redis:
        return self.world.client("A").redis(FIVE[n])

    def lose(self, n: int) -> None:
        self.world.network.cut("A", FIVE[n])

    def restart(self, n: int) -> None:
        self.world.restart(FIVE[n], False, 0.0)
        time.sleep(0.01)

    def run(self, test: Callable[[], None]) -> None:
        self.world.client("A").start(lambda me: test())
        try:
            self.world.run()
        except ClientDied as died:
            raise (died.__cause__ or died) from None

    def close(self) -> None:
        self.world.close()


class RealFive(Five):
    """Five real servers. A lost one is halted by the system, and goes on at the end."""

    def __init__(self, servers: list[RedisServer]) -> None:
        self.servers, self._made, self._lost = servers, list[Redis](), list[int]()
        super().__init__()

    def client(self, n: int) -> Redis:
        self._made.append(self.servers[n].client())
        return self._made[-1]

    def lose(self, n: int) -> None:
        self._signal(n, signal.SIGSTOP)
        self._lost.append(n)

    def restart(self, n: int) -> None:
        self.servers[n].restart(keep_data=False)

    def run(self, test: Callable[[], None]) -> None:
        test()

    def _signal(self, n: int, what: signal.Signals) -> None:
        pid = self.servers[n].pid
        assert pid is not None
        os.kill(pid, what)

    def close(self) -> None:
        for n in self._lost:
            self._signal(n, signal.SIGCONT)
        for client in self._made:
            client.close()
        for server in self.servers:
            with server.client() as client:
                client.flushall()
