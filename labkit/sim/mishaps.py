"""What may befall the nodes of a world, as faults bring it about: the half of `World` that breaks things.

Each method strikes at once and writes what it did into the timeline; when it strikes is up to `labkit.faults`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .hub import micros
from .nodes import Client, Node
from .server import Server

if TYPE_CHECKING:
    from .hub import Hub
    from .task import Task


class Mishaps:
    """Pause, suspension, crash, clock, restart, eviction. Each raises ValueError for a node that does not exist or is
    of the wrong kind."""

    if TYPE_CHECKING:  # what a world has
        hub: Hub
        _mains: list[Task]

        @property
        def now(self) -> float: ...

        def node(self, name: str) -> Node: ...

        def emit(self, node: str, kind: str, name: str, data: dict[str, Any], cause: int | None = None) -> int: ...

        def _main_gone(self) -> None: ...

    def pause(self, name: str, lasting: float) -> None:
        """Stops a node's processor for `lasting` seconds: a garbage collection, a swapped-out process. Pauses that
        overlap end with the last of them."""
        node = self.node(name)
        end = self.hub.now + micros(lasting)
        if node.crashed or (node.paused and end <= node.paused_until):
            return
        node.paused_since = node.paused_since if node.paused else self.hub.now
        node.paused, node.paused_until = True, end
        cause = self.emit(name, "pause", name, {"until": round(self.now + lasting, 6)})
        self.hub.at(end, self._wake, (node, cause))

    def suspend(self, name: str, lasting: float) -> None:
        """Suspends the machine that a client runs on for `lasting` seconds: a pause in which its monotonic clock stands
        still too, so that each of its timers and deadlines comes that much later. Its wall clock is right on waking."""
        client = self.node(name)
        if not isinstance(client, Client):
            raise ValueError(f"{name} is a server: pause it instead; its keys expire by the wall clock, which goes on.")
        end = self.hub.now + micros(lasting)
        longer = end - max(self.hub.now, client.suspended_until)
        if longer > 0 and not client.crashed:
            client.suspended_until = end
            self.hub.stand_still(client, longer)
            self.pause(name, lasting)

    def _wake(self, of: tuple[Node, int]) -> None:
        node, cause = of
        if node.paused and not node.crashed and self.hub.now >= node.paused_until:
            self.emit(node.name, "wake", node.name, {}, cause)
            self._go_on(node)

    def _go_on(self, node: Node) -> None:
        node.paused = False
        while node.held_back:
            self.hub.at(self.hub.now, self.hub.resume, node.held_back.popleft(), node.name)

    def crash(self, name: str) -> None:
        """Kills a client at once: no clean-up code of its runs, its connections break."""
        client = self.node(name)
        if not isinstance(client, Client):
            raise ValueError(f"{name} is a server: let it restart instead of crash.")
        if client.crashed:
            return
        client.crashed = True
        self.emit(name, "crash", name, {})
        for connection in list(client.connections):
            self.hub.at(self.hub.now + 1, lambda c: c.close(), connection)
        for task in self._mains:
            if task.node is client and not task.ended:
                self._main_gone()

    def set_clock(self, name: str, step: float = 0.0, rate: float | None = None) -> None:
        """Steps a node's wall clock by `step` seconds and, if given, lets it go `rate` times as fast from now on."""
        node = self.node(name)
        node.clock.set(self.hub.now, step, rate)
        data: dict[str, Any] = ({"step": step} if step else {}) | ({"rate": rate} if rate is not None else {})
        if isinstance(node, Server):
            node.report("clock", name, data | {"keys": node.clock_changed()})
        else:
            self.emit(name, "clock", name, data)

    def restart(self, name: str, keep_data: bool, down: float = 0.0) -> None:
        """Stops a server and starts it again `down` seconds later, with its data or empty."""
        server = self.server_called(name, "let it crash instead of restart")
        cause = self.emit(name, "crash", name, {})
        server.stop()
        self._go_on(server)  # whatever stood still is gone
        self.hub.at(self.hub.now + micros(down), self._come_back, (server, keep_data, cause))

    def _come_back(self, of: tuple[Server, bool, int]) -> None:
        server, keep_data, cause = of
        keys = server.come_back(keep_data)
        seq = self.emit(server.name, "restart", server.name, {"kept": keep_data, "keys": keys}, cause)
        if server.role is not None:
            server.role.came_back(seq)

    def halt(self, name: str) -> None:
        """Ends a server for good: its machine is gone, and its data with it."""
        server = self.server_called(name, "let it crash")
        if server.up:
            self.emit(name, "crash", name, {"keys": server.halt()})
            self._go_on(server)

    def evict(self, name: str, key: str) -> None:
        """Lets a server throw a key away to make room for others."""
        server = self.server_called(name, "it has no keys to evict")
        keys = server.evict(key)
        if keys:
            server.report("evict", key, {"keys": keys})

    def flush(self, name: str) -> None:
        """Lets an operator empty a server, by mistake or not: FLUSHALL."""
        server = self.server_called(name, "it has no keys to lose")
        cause = self.emit(name, "note", f"An operator empties {name} with FLUSHALL.", {})
        server.report("apply", "FLUSHALL", {"keys": server.adopt(dict.fromkeys(server.keys())), "reply": "+OK"}, cause)

    def server_called(self, name: str, advice: str = "a server is needed here") -> Server:
        """The server of this name; a client is told the `advice`."""
        server = self.node(name)
        if not isinstance(server, Server):
            raise ValueError(f"{name} is a client: {advice}.")
        return server
