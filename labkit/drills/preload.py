"""What a check needs, loaded once, in the process from which those of the checks are forked."""

from ..locks import SafeLock
from ..sim import World
from . import child
from .drill import NAMES, load

__all__ = ["SafeLock", "World", "child"]

for name in NAMES:
    load(name).trials  # noqa: B018  (loads the checks of the question)
with World() as world:  # the first world of a process finds the names to replace and loads fakeredis
    world.client("A").start(lambda me: me.redis("redis").ping())
    world.run()
