"""The simulated world: real lock code and genuine redis-py clients in virtual time. See `World`."""

from .errors import ClientDied, RanAway, Stuck, WorldClosed, WorldError
from .wire import Fate, Packet, Rule
from .world import World

__all__ = ["ClientDied", "Fate", "Packet", "RanAway", "Rule", "Stuck", "World", "WorldClosed", "WorldError"]
