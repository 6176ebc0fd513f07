"""Pause: a node's processor stands still, as in a garbage collection, a throttled container or a closed laptop. Nothing
of the node runs; time goes on, packets keep arriving and wait."""

from __future__ import annotations

from dataclasses import dataclass

from ..sim import Packet, World
from .when import At, Match


@dataclass(frozen=True)
class Pause:
    """Pauses `node` for `lasting` seconds at time `at`, or just before it sends the command `on`."""

    node: str
    lasting: float
    at: float | None = None
    on: str | None = None
    nth: int = 1

    def arm(self, world: World) -> None:
        if self.at is not None:
            world.at(self.at, lambda: world.pause(self.node, self.lasting))
            return
        match = Match(At(self.on, self.nth, client=self.node))

        def strike(packet: Packet) -> None:
            if match(packet):
                world.pause(self.node, self.lasting)

        world.trigger(strike)
