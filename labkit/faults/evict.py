"""Evict: a server that has reached its memory limit throws a key away, as the policies `volatile-*` and `allkeys-*` do;
for a lock it makes no difference that it was in use."""

from __future__ import annotations

from dataclasses import dataclass

from ..sim import World


@dataclass(frozen=True)
class Evict:
    """Throws `key` of `server` away at time `at`; nothing happens if it is not there."""

    key: str
    server: str = "redis"
    at: float = 0.0

    def arm(self, world: World) -> None:
        world.at(self.at, lambda: world.evict(self.server, self.key))
