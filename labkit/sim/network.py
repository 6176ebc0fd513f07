"""Who can reach whom, and what becomes of a packet on its way: the rules, the triggers and the cut links of a world."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .hub import micros
from .scripts import Scripts
from .task import Task, current
from .wire import Connection, Fate, Packet, Rule

if TYPE_CHECKING:
    from .nodes import Client
    from .server import Server
    from .world import World

Trigger = Callable[[Packet], None]
DELIVER = Fate()
LOST = Fate(lost=True)


class Network:
    """Between the clients and the servers of one world. It knows nothing of locks, and no fault by name."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.rules: list[Rule] = []
        self.triggers: list[Trigger] = []
        self._cut: set[frozenset[str]] = set()
        self._scripts = Scripts()

    def clear(self) -> None:
        self.rules.clear()
        self.triggers.clear()

    # -- what the wire asks ------------------------------------------------------------------------------------

    def connect(self, client: Client, server: Server, timeout: float | None) -> Connection:
        """A new connection. It costs no time of its own, unless the link is cut: then it waits for the time-out."""
        if self.is_cut(client.name, server.name):
            self.world.hub.park(None if timeout is None else micros(timeout))
            raise TimeoutError("timed out")
        if not server.up:
            self.world.hub.sleep(1)
            raise ConnectionRefusedError(111, "Connection refused")
        connection = Connection(client, server)
        client.connections.append(connection)
        return connection

    def send(self, connection: Connection, words: list[bytes]) -> None:
        """A task of a client sends one command: triggers first (they may pause or crash it), then the wire."""
        task, client, server = current(), connection.client, connection.server.name
        name = words[0].decode("ascii", "replace").upper()
        text, nth = self._scripts.text(name, words), client.count(server, name)
        packet = Packet("request", client.name, server, name, text, nth, task.within, -1, words, task.lane)
        if self.triggers:
            self._pull_triggers(packet, task, client)
        task.sent_at = self.world.now
        packet.seq = self.world.emit(task.lane, "send", text, {"to": server}, task.within)
        connection.carry(packet, connection.deliver)

    def _pull_triggers(self, packet: Packet, task: Task, client: Client) -> None:
        for trigger in self.triggers:
            trigger(packet)
        while client.paused or client.crashed:
            client.held_back.append(task)
            self.world.hub.greenlet.switch()
            self.world.hub.refuse()

    def fate(self, packet: Packet) -> Fate:
        """All rules see each packet, for many count; the first opinion wins."""
        if not self.rules and not self._cut:
            return DELIVER
        opinions = [fate for rule in self.rules if (fate := rule(packet)) is not None]
        if self._cut and self.is_cut(packet.client, packet.server):
            return LOST
        return opinions[0] if opinions else DELIVER

    def lost(self, packet: Packet) -> None:
        sender, receiver = packet.lane, packet.server
        if packet.direction == "reply":
            sender, receiver = receiver, sender
        data = {"direction": packet.direction, "to": receiver}
        self.world.emit(sender, "drop", packet.text, data, packet.seq)

    def delivered(self, packet: Packet) -> None:
        self.world.emit(packet.lane, "deliver", packet.text, {"from": packet.server}, packet.seq)

    def is_cut(self, one: str, other: str) -> bool:
        return frozenset((one, other)) in self._cut

    def cut(self, one: str, other: str) -> None:
        """Cuts the link between two nodes: packets are lost, connections over it stay silent."""
        if not self.is_cut(one, other):
            self._cut.add(frozenset((self.world.node(one).name, self.world.node(other).name)))
            self.world.emit(one, "cut", other, {"peer": other})

    def heal(self, one: str, other: str) -> None:
        """Mends the link; connections that lost something over it stay silent."""
        if self.is_cut(one, other):
            self._cut.discard(frozenset((one, other)))
            self.world.emit(one, "heal", other, {"peer": other})
