"""Clock: a node's wall clock jumps or goes at another rate. Expiry follows the server's wall clock; no monotonic clock
is touched."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..sim import World


@dataclass(frozen=True)
class ClockStep:
    """Steps the wall clock of `node` by `by` seconds at time `at`; negative steps go back."""

    node: str
    by: float
    at: float = 0.0

    def arm(self, world: World) -> None:
        world.at(self.at, lambda: world.set_clock(self.node, step=self.by))


@dataclass(frozen=True)
class ClockRate:
    """Lets the wall clock of `node` go `rate` times as fast as time, from time `at` on. Raises ValueError for a rate
    that is not above 0."""

    node: str
    rate: float
    at: float = 0.0

    def __post_init__(self) -> None:
        if not (self.rate > 0 and math.isfinite(self.rate)):
            raise ValueError(f"rate={self.rate!r}: a clock goes forward, so its rate is a number above 0.")

    def arm(self, world: World) -> None:
        world.at(self.at, lambda: world.set_clock(self.node, rate=self.rate))
