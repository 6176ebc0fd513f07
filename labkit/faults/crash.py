"""Crash: a client's process is gone at once. No `finally` and no `atexit` of it runs; what it had sent goes its way."""

from __future__ import annotations

from dataclasses import dataclass

from ..sim import Packet, World
from .when import At, Match


@dataclass(frozen=True)
class Crash:
    """Kills `node` at time `at`, or just before it sends the command `on`."""

    node: str
    at: float | None = None
    on: str | None = None
    nth: int = 1

    def arm(self, world: World) -> None:
        if self.at is not None:
            world.at(self.at, lambda: world.crash(self.node))
            return
        match = Match(At(self.on, self.nth, client=self.node))

        def strike(packet: Packet) -> None:
            if match(packet):
                world.crash(self.node)

        world.trigger(strike)
