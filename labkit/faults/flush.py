"""Flush: an operator empties a server. Locks are gone, and so is a counter of fencing tokens: it starts again at 1. For
the loss of one key see `Evict`; a server without persistence loses all by a `Restart`."""

from __future__ import annotations

from dataclasses import dataclass

from ..sim import World


@dataclass(frozen=True)
class Flush:
    """Executes FLUSHALL on `server` at time `at`; its replicas follow."""

    server: str = "redis"
    at: float = 0.0

    def arm(self, world: World) -> None:
        world.at(self.at, lambda: world.flush(self.server))
