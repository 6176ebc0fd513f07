"""Partition: a link carries nothing. What is sent meanwhile is lost; new connections wait for their time-out."""

from __future__ import annotations

from dataclasses import dataclass

from ..sim import World


@dataclass(frozen=True)
class Partition:
    """Cuts the link between two nodes at time `at` for `lasting` seconds (None: for good)."""

    one: str
    other: str
    at: float = 0.0
    lasting: float | None = None

    def arm(self, world: World) -> None:
        world.at(self.at, lambda: world.network.cut(self.one, self.other))
        if self.lasting is not None:
            world.at(self.at + self.lasting, lambda: world.network.heal(self.one, self.other))
