"""Which packet a fault means: shared by the faults that strike at a command."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal

from ..sim import Packet


@dataclass(frozen=True)
class At:
    """The `nth` command called `on` (None: any command) that `client` sends to `server` (None: any)."""

    on: str | None = None
    nth: int = 1
    client: str | None = None
    server: str | None = None

    def __post_init__(self) -> None:
        if self.nth < 1:
            raise ValueError(f"nth={self.nth!r}: commands are counted from 1.")


class Match:
    """Says yes for the packets that are meant, one for each client that is; it counts them itself."""

    def __init__(self, at: At, way: Literal["request", "reply"] = "request") -> None:
        self.at, self.way, self._seen = at, way, Counter[str]()

    def __call__(self, packet: Packet) -> bool:
        at = self.at
        if packet.direction != self.way or at.client not in (None, packet.client):
            return False
        if at.server not in (None, packet.server) or (at.on and at.on.upper() != packet.name):
            return False
        self._seen[packet.client] += 1
        return self._seen[packet.client] == at.nth
