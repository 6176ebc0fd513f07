"""Who comes on in a play: resources, owners and tokens, drawn anew each time."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .bench import Pair

NAMES = ("order-7", "order-8", "stock", "account-12", "report")
QUOTED = ("l'ordre-7", "Anna's cart", "baker's-12")  # a name is data: nothing that it holds may end a text in SQL


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

    def later(self, pair: Pair, *passed: Pair) -> Pair:
        """What the owner of `pair` has got in its next grant: a token above its own and those of `passed`."""
        return max(token for token, _ in (pair, *passed)) + self.draw.randrange(1, 5), pair[1]

    def resources(self, count: int, quoted: bool = False) -> list[str]:
        """quoted: the first has an apostrophe in its name."""
        drawn = self.draw.sample(NAMES, count)
        return [self.draw.choice(QUOTED), *drawn[1:]] if quoted else drawn


def shown_pair(pair: Sequence[Any]) -> str:
    return f"({pair[0]}, {pair[1]!r})"
