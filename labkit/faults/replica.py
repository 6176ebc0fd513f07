"""Replica: a server that follows another and may be promoted. No mishap, but what must be there before one can be."""

from __future__ import annotations

from dataclasses import dataclass

from ..sim import World


@dataclass(frozen=True)
class Replica:
    """Lets `name` follow the server `of`, `lag` seconds behind, from the start. needed: how many replicas must have
    been heard of within `max_lag` seconds for a write to be accepted (Redis' `min-replicas-to-write`; None: leave it as
    it is, at first any number)."""

    name: str = "r1"
    of: str = "redis"
    lag: float = 0.1
    needed: int | None = None
    max_lag: float = 10.0

    def arm(self, world: World) -> None:
        world.replica(self.name, self.of, self.lag)
        if self.needed is not None:
            world.require_replicas(self.of, self.needed, self.max_lag)
