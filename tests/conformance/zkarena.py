"""Two places in which one test of ZooKeeper runs: the world's model, and a real server with kazoo's own client.

A test asks an arena for clients, and for what befalls them, and is otherwise ordinary blocking code. On the real server
each client goes through a proxy of its own, so that its link can be cut; there nothing waits but for something to come
true.
"""

from __future__ import annotations

import itertools
import logging
import secrets
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from kazoo.client import KazooClient
from kazoo.protocol.serialization import Create2
from kazoo.security import OPEN_ACL_UNSAFE

from labkit.live.zookeeper import ZooKeeperServer
from labkit.sim import ClientDied, World

TIMEOUT = 1.0  # seconds of a session
LONG = 9.0  # of one that is to outlive a restart
PATIENCE = 20.0  # seconds for something to come true


def until(true: Callable[[], Any]) -> Any:
    """Waits until it is true, and returns what it is."""
    end = time.monotonic() + PATIENCE
    while not (found := true()):
        assert time.monotonic() < end, "It does not come true."
        time.sleep(0.005)
    return found


class Arena:
    """What both have in common. root: a path of each test's own, which does not exist yet."""

    real: bool

    def __init__(self) -> None:
        self.root = f"/{secrets.token_hex(4)}"

    def client(self, timeout: float = TIMEOUT) -> Any:
        raise NotImplementedError

    def cut(self, client: Any) -> None:
        """From now on nothing passes between this client and the ensemble."""
        raise NotImplementedError

    def heal(self, client: Any) -> None:
        raise NotImplementedError

    def sleep_through(self, client: Any) -> None:
        """The client's link is cut for so long that its session ends there; then it has a new one."""
        looker, marker, before = self.client(), f"/{secrets.token_hex(4)}", client.client_id
        client.create(marker, ephemeral=True)
        self.cut(client)
        until(lambda: looker.exists(marker) is None)
        self.heal(client)
        until(lambda: client.connected and client.client_id != before)


class WorldArena(Arena):
    """The world: a test is the code of client A; each ZooKeeper client has a link of its own."""

    real = False

    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self._names = (f"c{n}" for n in itertools.count(1))
        self._name: dict[Any, str] = {}

    def client(self, timeout: float = TIMEOUT) -> Any:
        name = next(self._names)
        client = self.world.client(name).zookeeper("zk", timeout=timeout)
        self._name[client] = name
        client.start()
        return client

    def cut(self, client: Any) -> None:
        self.world.network.cut(self._name[client], "zk")

    def heal(self, client: Any) -> None:
        self.world.network.heal(self._name[client], "zk")

    def restart(self) -> None:
        self.world.hub.outside(self.world.restart, "zk", True)

    def container(self, client: Any, path: str) -> None:
        client.create(path, container=True)

    def run(self, test: Callable[[], None]) -> None:
        self.world.client("A").start(lambda me: test())
        try:
            self.world.run()
        except ClientDied as died:
            raise (died.__cause__ or died) from None

    def close(self) -> None:
        self.world.close()


class CreateContainer(Create2):  # type: ignore[misc]
    """A request that kazoo does not know: code and flag are those of ZooKeeper's CreateMode.CONTAINER."""

    type = 19
    flag = 4


class RealArena(Arena):
    """A real server."""

    real = True

    def __init__(self, server: ZooKeeperServer) -> None:
        super().__init__()
        self.server = server
        self._proxies: dict[Any, Proxy] = {}

    def client(self, timeout: float = TIMEOUT) -> Any:
        proxy = Proxy(self.server.hosts)
        quiet = logging.getLogger("tests.kazoo")
        quiet.disabled = True  # cut links are what these tests are about
        hosts = ",".join([proxy.hosts] * 3)  # a server that just starts may never answer: kazoo waits a third for each
        client = KazooClient(hosts, timeout=timeout, logger=quiet)
        self._proxies[client] = proxy
        client.start(PATIENCE)
        return client

    def cut(self, client: Any) -> None:
        self._proxies[client].cut()

    def heal(self, client: Any) -> None:
        self._proxies[client].heal()

    def restart(self) -> None:
        self.server.restart()

    def container(self, client: Any, path: str) -> None:
        result = client.handler.async_result()
        client._call(CreateContainer(path, b"", OPEN_ACL_UNSAFE, CreateContainer.flag), result)
        result.get()

    def run(self, test: Callable[[], None]) -> None:
        test()

    def close(self) -> None:
        for client, proxy in self._proxies.items():
            proxy.heal()
            client.stop()
            client.close()
            proxy.close()


class Proxy:
    """Between one client and the server, on loopback. While it is cut it takes what comes and passes nothing on; the
    connections that this befell are closed when it is healed."""

    def __init__(self, hosts: str) -> None:
        host, _, port = hosts.partition(":")
        self._server = (host, int(port))
        self._cut = False
        self._sockets: set[socket.socket] = set()
        self._deaf: set[socket.socket] = set()
        self._threads: list[threading.Thread] = []
        self._door = socket.create_server(("127.0.0.1", 0))
        self.hosts = f"127.0.0.1:{self._door.getsockname()[1]}"
        self._start(self._welcome)

    def cut(self) -> None:
        self._cut = True
        self._deaf |= self._sockets

    def heal(self) -> None:
        self._cut = False
        for each in list(self._deaf):
            self._end(each)

    def close(self) -> None:
        with suppress(OSError):
            self._door.shutdown(socket.SHUT_RDWR)
        self._door.close()
        for each in list(self._sockets):
            self._end(each)
        for thread in self._threads:
            thread.join(PATIENCE)

    def _start(self, work: Callable[..., None], *args: Any) -> None:
        thread = threading.Thread(target=work, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _welcome(self) -> None:
        while True:
            try:
                near = self._door.accept()[0]
            except OSError:
                return
            try:
                far = socket.create_connection(self._server, PATIENCE)
            except OSError:  # the server is down
                near.close()
                continue
            far.settimeout(None)
            self._sockets |= {near, far}
            if self._cut:
                self._deaf |= {near, far}
            self._start(self._pass_on, near, far)
            self._start(self._pass_on, far, near)

    def _pass_on(self, one: socket.socket, other: socket.socket) -> None:
        with suppress(OSError):
            while data := one.recv(65_536):
                if one not in self._deaf:
                    other.sendall(data)
        if one not in self._deaf:
            self._end(other)
        self._end(one)

    def _end(self, each: socket.socket) -> None:
        with suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
        each.close()
        self._sockets.discard(each)
        self._deaf.discard(each)
