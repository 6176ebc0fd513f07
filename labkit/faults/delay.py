"""Delay: a request stays in the network for a while, and all that its connection sends behind it."""

from __future__ import annotations

from dataclasses import dataclass

from ..sim import Fate, World
from .when import At, Match


@dataclass(frozen=True)
class Delay(At):
    """Delivers the request `by` seconds later than usual."""

    by: float = 1.0

    def arm(self, world: World) -> None:
        match = Match(self)
        world.rule(lambda packet: Fate(after=self.by) if match(packet) else None)
