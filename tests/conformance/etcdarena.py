"""Two places in which one test of etcd runs: the model in the world, and a real etcd through its JSON gateway.

In the world a test runs as the code of client A, in virtual time. On the real server the shortest lease is a second,
and whoever waits for its end waits on a watch.
"""

from __future__ import annotations

import base64
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from labkit.live.etcdserver import EtcdServer
from labkit.locks.etcd import EtcdLock
from labkit.locks.etcdclient import EtcdClient
from labkit.sim import ClientDied, World

Wire = tuple[Callable[..., Any], Callable[..., Any]]
PATIENCE = 20.0  # seconds that anything here may take


class Arena:
    """ttl: the shortest lease that this server grants."""

    ttl: int

    def wire(self) -> Wire:
        """`post` and `watch`."""
        raise NotImplementedError

    def restart(self) -> None:
        """The server dies and comes back with its data."""
        raise NotImplementedError

    def post(self, path: str, **body: Any) -> dict[str, Any]:
        """The gateway's answer, without what tells one server from another."""
        answer: dict[str, Any] = plain(self.wire()[0](path, body))
        return answer

    def client(self) -> EtcdClient:
        return EtcdClient(*self.wire())

    def lock(self, kind: type[EtcdLock] = EtcdLock, ttl: int | None = None, wire: Wire | None = None) -> Any:
        return kind(EtcdClient(*(wire or self.wire())), "stock", ttl or self.ttl)

    def queue(self) -> list[str]:
        """The keys of the lock, in the order of their coming."""
        found = self.client().range("stock/", prefix=True)
        return [one.key for one in sorted(found, key=lambda one: one.create_revision)]

    def wait_until(self, queue: Callable[[list[str]], bool]) -> None:
        """Looks until the queue is so."""
        for _ in range(100_000):
            if queue(self.queue()):
                return
        raise AssertionError(f"The queue stays {self.queue()}.")

    def wait_for_the_end(self, key: str) -> None:
        """Until somebody, or the end of its lease, deletes the key."""
        found = self.client().range(key)
        if found:
            with self.client().watch(key, found[0].mod_revision) as watch:
                assert watch.deleted(PATIENCE), f"{key} stays."


class WorldArena(Arena):
    """The model."""

    real = False
    ttl = 2

    def __init__(self) -> None:
        self.world = World()
        self.me = self.world.client("A")

    def wire(self) -> Wire:
        return self.me.etcd()

    def restart(self) -> None:
        self.world.hub.outside(self.world.restart, "etcd", keep_data=True)
        time.sleep(0.001)  # virtual, as all time here: the server comes up after what is due at this moment

    def run(self, test: Callable[[], None]) -> None:
        self.me.start(lambda me: test())
        try:
            self.world.run()
        except ClientDied as died:
            raise (died.__cause__ or died) from None

    def close(self) -> None:
        self.world.close()


class RealArena(Arena):
    """A real etcd, emptied before each test."""

    real = True
    ttl = 1

    def __init__(self, server: EtcdServer) -> None:
        self.server = server
        everything = {"key": "AA==", "range_end": "AA=="}
        assert "error" not in self.wire()[0]("/v3/kv/deleterange", everything)

    def wire(self) -> Wire:
        return self.server.etcd(timeout=PATIENCE)

    def restart(self) -> None:
        self.server.restart()

    def run(self, test: Callable[[], None]) -> None:
        test()

    def close(self) -> None:
        pass


class Counted:
    """A wire that counts: requests by the last word of their path, and how often a watch had something to tell."""

    def __init__(self, wire: Wire) -> None:
        self._post, self._watch = wire
        self.counts: Counter[str] = Counter()
        self.more = threading.Semaphore(0)  # one for each keep-alive that was answered

    def wire(self) -> Wire:
        return self.post, self.watch

    def post(self, path: str, body: dict[str, Any]) -> Any:
        name = path.rpartition("/")[2]
        self.counts[name] += 1
        answer = self._post(path, body)
        if name == "keepalive":
            self.more.release()
        return answer

    def watch(self, body: dict[str, Any]) -> Counted:
        self.counts["watch"] += 1
        self._stream = self._watch(body)
        return self

    def read(self, timeout: float) -> Any:
        message = self._stream.read(timeout)
        self.counts["wake-up"] += bool(message and "events" in message["result"])
        return message

    def close(self) -> None:
        self._stream.close()


def plain(answer: Any) -> Any:
    """An answer without the numbers of a cluster and its members."""
    if isinstance(answer, dict):
        drop = ("cluster_id", "member_id", "raft_term")
        return {name: plain(value) for name, value in answer.items() if name not in drop}
    return [plain(one) for one in answer] if isinstance(answer, list) else answer


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
