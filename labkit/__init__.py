"""Redis Lock Lab: locks that are real code, a world that breaks them, judges that say how.

    from labkit import play, judge, viz
    timeline = play("gc-pause")      # a run in virtual time: a value, and a picture at the end of a cell
    judge(timeline)                  # what held and what broke, with the string that gives the same run again

Everything is loaded at its first use; `import labkit` itself costs next to nothing.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import (
        checks,
        choosing,
        drills,
        errata,
        explore,
        faults,
        interview,
        live,
        locks,
        panels,
        progress,
        sim,
        stories,
        viz,
    )
    from .checks import judge
    from .explore import search
    from .locks.lease import Lease
    from .progress import predict, settle
    from .sim import World
    from .stories import play, replay
    from .story import Param, Story
    from .timeline import Timeline
    from .verdict import Verdict

__version__ = "0.1.0"
__all__ = [
    "Lease",
    "Param",
    "Story",
    "Timeline",
    "Verdict",
    "World",
    "judge",
    "play",
    "predict",
    "replay",
    "search",
    "settle",
]

_ROOMS = "checks choosing drills errata explore faults interview live locks panels progress sim stories viz".split()
__all__ += ["checks", "choosing", "drills", "errata", "explore", "faults", "interview", "live", "locks", "panels"]
__all__ += ["progress", "sim", "stories", "viz"]

_HOME = {
    "Lease": "locks.lease",
    "Param": "story",
    "Story": "story",
    "Timeline": "timeline",
    "Verdict": "verdict",
    "World": "sim",
    "judge": "checks",
    "search": "explore",
    "play": "stories",
    "replay": "stories",
    "predict": "progress",
    "settle": "progress",
}


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f".{name}", __name__)
    if name in _HOME:
        value = getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"labkit has no {name!r}; it has {', '.join(__all__)}.")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if "IPython" in sys.modules:  # a timeline at the end of a cell shows itself
    importlib.import_module(".viz.formatters", __name__).register()
