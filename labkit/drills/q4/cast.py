"""Who comes on in a play: resources, owners and tokens, drawn anew each time."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .bench import Pair

NAMES = ("order-7", "order-8", "stock", "account-12", "report")


@dataclass(frozen=True)
class Cast:
    """draw: gives everything that is free."""

    draw: random.Random

    def rising(self, count: int) -> list[Pair]:
        """Holders with rising tokens, a power of ten between the first two: as text the first would be the higher."""
        token = 10 ** self.draw.randrange(1, 6) - self.draw.randrange(1, 4)
        found = list[Pair]()
        for _ in range(count):
            found.append((token, self.owner("ABCDEFGHIJKL"[len(found)])))
            token += self.draw.randrange(4, 9)
        return found

    def owner(self, letter: str) -> str:
        """An owner whose place in the alphabet says nothing of who comes first."""
        return f"{self.draw.randrange(16**6):06x}-{letter}"

    def resources(self, count: int) -> list[str]:
        return self.draw.sample(NAMES, count)


def shown_pair(pair: Sequence[Any]) -> str:
    return f"({pair[0]}, {pair[1]!r})"
