"""Failover: a primary fails, or is given up although it lives, and a replica takes its place with what has reached it.
A grant that was acknowledged to its holder, but not passed on yet, is forgotten."""

from __future__ import annotations

from dataclasses import dataclass

from ..sim import World


@dataclass(frozen=True)
class Failover:
    """Promotes the replica `to` in place of `primary`, `takes` seconds after time `at`.

    dies: at time `at` the primary is gone for good; otherwise it lives on, and serves the clients `isolated`, who do
    not hear of the failover. back: seconds after the promotion when it comes back as a replica of the new primary,
    without what only it had, and the isolated clients hear of it (None: never). Raises ValueError for a `to` that is
    the primary, or a time that is below 0.
    """

    primary: str = "redis"
    to: str = "r1"
    at: float = 0.0
    takes: float = 0.0
    isolated: tuple[str, ...] = ()
    dies: bool = True
    back: float | None = None

    def __post_init__(self) -> None:
        if self.to == self.primary:
            raise ValueError(f"to={self.to!r} is the primary itself: name the replica that takes its place.")
        for name, seconds in (("takes", self.takes), ("back", self.back)):
            if seconds is not None and not seconds >= 0:
                raise ValueError(f"{name}={seconds!r}: a number of seconds from 0 on is needed.")

    def arm(self, world: World) -> None:
        if self.dies:
            world.at(self.at, lambda: world.halt(self.primary))
        world.at(self.at + self.takes, lambda: world.promote(self.to, self.isolated))
        if self.back is not None:
            world.at(self.at + self.takes + self.back, lambda: world.rejoin(self.primary))
