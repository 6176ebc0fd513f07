"""Duplicate: a request arrives twice, the second time on a connection whose replies nobody reads, as when a client, a
proxy or a network sends it again."""

from __future__ import annotations

from dataclasses import dataclass

from ..sim import Fate, World
from .when import At, Match


@dataclass(frozen=True)
class Duplicate(At):
    """Delivers the request as usual, and again `after` seconds later."""

    after: float = 1.0

    def arm(self, world: World) -> None:
        match = Match(self)
        world.rule(lambda packet: Fate(again=self.after) if match(packet) else None)
