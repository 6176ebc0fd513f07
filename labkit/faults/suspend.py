"""Suspend: the machine under a client is suspended, as a virtual machine is for a snapshot or a move. Unlike in a
`Pause` the monotonic clock stands still with it (Linux' CLOCK_MONOTONIC does), so the client wakes up with the lease it
had, by its own clock, while the server's time went on."""

from __future__ import annotations

from dataclasses import dataclass

from ..sim import World


@dataclass(frozen=True)
class Suspend:
    """Suspends `client` for `lasting` seconds at time `at`: its monotonic clock and all its timers are that much late
    from then on; its wall clock jumps."""

    client: str
    at: float
    lasting: float

    def arm(self, world: World) -> None:
        world.at(self.at, lambda: world.suspend(self.client, self.lasting))
