"""Restart: a server stops and comes back, with its data (as with an append-only file written at each command) or
without (as with no persistence). Its connections break and its cached scripts are gone in both cases."""

from __future__ import annotations

from dataclasses import dataclass

from ..sim import World


@dataclass(frozen=True)
class Restart:
    """Stops `server` at time `at`; it is back `down` seconds later."""

    server: str = "redis"
    at: float = 0.0
    keep_data: bool = False
    down: float = 0.0

    def arm(self, world: World) -> None:
        world.at(self.at, lambda: world.restart(self.server, self.keep_data, self.down))
