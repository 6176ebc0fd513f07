"""Drop: a request or a reply is lost. For its connection that direction stays silent, as after a cut cable; the client
sees a time-out, and cannot tell which of the two it was."""

from __future__ import annotations

from dataclasses import dataclass

from ..sim import Fate, Packet, World
from .when import At, Match


@dataclass(frozen=True)
class DropRequest(At):
    """Loses the request: it is never executed."""

    def arm(self, world: World) -> None:
        match = Match(self, "request")
        world.rule(lambda packet: Fate(lost=True) if match(packet) else None)


@dataclass(frozen=True)
class DropReply(At):
    """Loses the reply: the command was executed, and nobody knows."""

    def arm(self, world: World) -> None:
        request, meant = Match(self, "request"), set[tuple[str, str, str, int]]()

        def rule(packet: Packet) -> Fate | None:
            if request(packet):
                meant.add(packet.exchange)
            return Fate(lost=True) if packet.direction == "reply" and packet.exchange in meant else None

        world.rule(rule)
