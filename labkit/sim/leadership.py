"""Who leads: pairs of primary and replicas, failover, and where a server's name leads each client.

Clients speak to a primary by the name of the first one, `redis` for example. After a failover that name leads to the
promoted replica for all clients but the isolated ones: they have not heard of it, and go on with the old primary if it
lives. A client that hears of it lets go of its connections to the old primary, as redis-py's Sentinel pools do. Who
detects the failure, and how the replicas vote, is not simulated: a fault decides.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from .mishaps import Mishaps
from .network import Network
from .replication import Primary, Replica
from .server import Server
from .wire import Connection

if TYPE_CHECKING:
    from .nodes import Client
    from .world import World


class Links(Network):
    """The network of a world whose servers may have replicas."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._group: dict[str, str] = {}  # a replica's name -> the name by which clients know its primary
        self._leader: dict[str, Server] = {}  # that name -> who leads, after a failover
        self._stale: dict[tuple[str, str], Server] = {}  # (client, that name) -> whom the client takes for the leader

    def clear(self) -> None:
        super().clear()
        self._leader.clear()
        self._stale.clear()

    def connect(self, client: Client, server: Server, timeout: float | None) -> Connection:
        """As without replicas, to the server that the client takes for the one of this name."""
        return super().connect(client, self._view(client, server.name) or server, timeout)

    def cut(self, one: str, other: str) -> None:
        super().cut(one, other)
        for replica in self._between(one, other):
            replica.fell_silent()

    def heal(self, one: str, other: str) -> None:
        super().heal(one, other)
        for replica in self._between(one, other):
            replica.mended()

    def _between(self, one: str, other: str) -> list[Replica]:
        servers = (self.world.servers.get(one), self.world.servers.get(other))
        roles = [server.role for server in servers if server is not None]
        return [r for r in roles if isinstance(r, Replica) and {r.server.name, r.primary.server.name} == {one, other}]

    def _view(self, client: Client, name: str) -> Server | None:
        return self._stale.get((client.name, name)) or self._leader.get(name)

    def joined(self, replica: Server, of: Server) -> None:
        self._group[replica.name] = self._group.get(of.name, of.name)

    def leader(self, server: Server) -> Server:
        """Who leads the group that this server belongs to."""
        return self._leader.get(self._group.get(server.name, server.name), server)

    def promoted(self, old: Server, new: Server, isolated: Iterable[str] = ()) -> None:
        """From now on the group's name leads to `new`, but not for the clients that are isolated."""
        name, unaware = self._group[new.name], set(isolated)
        for client in self.world.clients.values():
            before = self._view(client, name) or old
            if client.name in unaware:
                self._stale[client.name, name] = before
                continue
            self._stale.pop((client.name, name), None)
            if before is not new:
                self.let_go(before, client)
        self._leader[name] = new

    @staticmethod
    def let_go(server: Server, client: Client) -> None:
        for connection in [c for c in client.connections if c.server is server]:
            connection.hang_up()


class Leadership(Mishaps):
    """The part of `World` that sets up replicas and moves the lead. Each method raises ValueError for a node that does
    not exist or is of the wrong kind."""

    if TYPE_CHECKING:  # what a world has
        network: Links
        servers: dict[str, Server]

        def server(self, name: str = "redis", version: tuple[int, ...] = (7, 0)) -> Server: ...

    def replica(self, name: str, of: str = "redis", lag: float = 0.1) -> Server:
        """A server that follows `of`, `lag` seconds behind. It serves reads under its own name and refuses writes."""
        if not (lag >= 0 and math.isfinite(lag)):
            raise ValueError(f"lag={lag!r}: a replica is a number of seconds behind, 0 or more.")
        primary = self.server(of)
        if isinstance(primary.role, Replica):
            raise ValueError(f"{of} is itself a replica; {name} can follow {primary.role.primary.server.name}.")
        if name in self.servers and (name == of or self.servers[name].role is not None):
            raise ValueError(f"{name} has a part in a replication already: choose another name for a replica of {of}.")
        server = self.server(name, primary.version)
        self._attach(server, primary.lead(), lag)
        return server

    def _attach(self, server: Server, primary: Primary, lag: float, cause: int | None = None) -> None:
        server.role = Replica(server, primary, lag)
        self.network.joined(server, primary.server)
        server.role.mended(cause)

    def require_replicas(self, name: str, count: int, max_lag: float = 10.0) -> None:
        """Lets `name`, and whoever is promoted in its place, refuse writes while fewer than `count` replicas have been
        heard of within `max_lag` seconds."""
        lead = self.server_called(name).lead()
        lead.needed, lead.max_lag = count, max_lag

    def promote(self, name: str, isolated: Iterable[str] = ()) -> None:
        """Makes a replica the primary, with what has reached it; the other replicas follow it from now on. The clients
        called `isolated` do not hear of it. Does nothing if it is down, or leads already."""
        new, unaware = self.server_called(name), [self.node(each).name for each in isolated]
        if new.role is None:
            raise ValueError(f"{name} is no replica: make it one with world.replica({name!r}).")
        if isinstance(new.role, Primary) or not new.up:
            return
        old, lag = new.role.primary, new.role.lag
        data = {"of": old.server.name} | ({"isolated": unaware} if unaware else {})
        cause = self.emit(name, "promote", name, data)
        others = [replica for replica in old.replicas if not replica.left and replica.server is not new]
        for replica in (new.role, *others):
            replica.leave()
        new.role = lead = Primary(new, old.needed, old.max_lag, lag)
        for replica in others:
            self._attach(replica.server, lead, replica.lag, cause)
        self.network.promoted(old.server, new, unaware)

    def rejoin(self, name: str) -> None:
        """A primary that was replaced hears of it: it comes up if it was down, gives up what only it has, and follows
        the new one. So do the clients that took it for the primary. Does nothing if it leads."""
        old = self.server_called(name)
        leader = self.network.leader(old)
        if leader is old or isinstance(old.role, Replica):
            return
        cause = self.emit(name, "note", f"{name} follows {leader.name} from now on.", {})
        if not old.up:
            self._come_back((old, False, cause))
        lead = leader.lead()
        self._attach(old, lead, lead.lag, cause)
        self.network.promoted(old, leader)
