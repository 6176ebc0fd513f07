"""The stories of the course, one file a section, and the two ways to have one: `play` and `replay`.

timeline = play("gc-pause", pause=12)          # by name, in a fresh world
timeline = replay("gc-pause pause=12.0 #0")    # by the string that a broken run prints
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Mapping
from typing import Any

from ..faults.taped import TTL, Taped, kinds_of
from ..sim import World
from ..story import Story
from ..timeline import Timeline


def _found() -> dict[str, Story]:
    names = sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    stories = [value for module in modules for value in vars(module).values() if isinstance(value, Story)]
    return {story.name: story for story in stories}


STORIES: dict[str, Story] = _found()


def find(story: str | Story) -> Story:
    """A story by its name. Raises ValueError that lists the names there are."""
    if isinstance(story, Story):
        return story
    if story not in STORIES:
        raise ValueError(
            f"No story is called {story!r}; there are {', '.join(STORIES)}. One of your own is given itself."
        )
    return STORIES[story]


def play(story: str | Story, seed: int = 0, tape: str = "", **params: Any) -> Timeline:
    """Plays a story in a world of its own. seed 0: the plain schedule; other seeds let latencies and ties wander.
    Raises ValueError for an unknown story, parameter or value, before anything runs."""
    chosen = find(story)
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        raise ValueError(f"seed={seed!r} is not a whole number from 0 on.")
    settled = vars(chosen.settle(**params))
    with World(seed, tape, chosen.title(**{name: settled[name] for name in params})) as world:
        if kinds := kinds_of(tape):
            world.arm(taped(chosen, params, kinds))
        timeline: Timeline = chosen.run(world, **params)
    return timeline


def taped(story: Story, params: Mapping[str, Any], kinds: tuple[str, ...]) -> Taped:
    """Faults of these kinds, to be placed in a story by a tape: in its TTLs, and at none of its durable servers."""
    return Taped(kinds, vars(story.settle(**params)).get("ttl", TTL), story.durable)


def replay(token: str, story: Story | None = None, **params: Any) -> Timeline:
    """The very run whose token this is. What is your own is given again: `replay(token, story=mine, lock=MyLock)`, a
    story that has no place in `STORIES`, a lock class that cannot be imported here. Raises ValueError for no token."""
    words = token.split()
    place = next((n for n, word in enumerate(words) if word.startswith("#") and word[1:].isdigit()), 0)
    if not place or len(words) > place + 2:
        raise ValueError(f"{token!r} is no replay string: it reads «story parameter=value … #seed tape».")
    given = {name: value for name, _, value in (word.partition("=") for word in words[1:place])}
    given.update({name: _imported(name, value) for name, value in given.items() if ":" in value and name not in params})
    return play(story or words[0], int(words[place][1:]), " ".join(words[place + 1 :]), **(given | params))


def _imported(name: str, value: str) -> Any:
    module, _, path = value.partition(":")
    try:
        found: Any = sys.modules.get(module) or importlib.import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError):
        raise ValueError(f"{name}={value} cannot be imported here: give it again, replay(token, {name}=…).") from None
    return found
