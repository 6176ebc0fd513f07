"""Judges: each looks at a finished timeline and says whether one claim held, broke, or was not put to the test.

A check is a file in this folder with a `CLAIM`, and a function `check(timeline) -> Verdict`; its name is the file's.
The judges know neither the world nor the locks, so that ours, a learner's and a third party's are judged alike.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass

from ..timeline import Timeline
from ..verdict import Verdict, worst

Check = Callable[[Timeline], Verdict]


def _found() -> dict[str, Check]:
    names = sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))
    return {name: importlib.import_module(f"{__name__}.{name}").check for name in names}


CHECKS: dict[str, Check] = _found()


@dataclass(frozen=True)
class Judgement:
    """The verdicts on one run. Printed, it says how to have a broken run again."""

    verdicts: tuple[Verdict, ...]
    token: str

    @property
    def holds(self) -> bool | None:
        """False if any claim is broken, else None if any is unknown, else True."""
        return worst(self.verdicts)

    @property
    def broken(self) -> tuple[Verdict, ...]:
        return tuple(v for v in self.verdicts if v.holds is False)

    def __str__(self) -> str:
        lines = [str(verdict) for verdict in self.verdicts]
        if self.broken and not self.token.startswith("#"):  # a run without a story has no name to ask for
            lines.append(f"         again: labkit.replay({self.token!r})")
        return "\n".join(lines)

    __repr__ = __str__


def judge(timeline: Timeline, *names: str) -> Judgement:
    """Judges by the named checks, all if none is named. Raises ValueError, naming it, for a check that does not exist.
    A check that fails with an error says unknown, never that the claim holds."""
    if not isinstance(timeline, Timeline):
        raise TypeError(f"judge wants a timeline, such as play(…) returns, not {timeline!r}.")
    for name in names:
        if name not in CHECKS:
            raise ValueError(f"No check is called {name!r}; there are {', '.join(CHECKS)}.")
    return Judgement(tuple(_safely(name, timeline) for name in names or CHECKS), timeline.token)


def _safely(name: str, timeline: Timeline) -> Verdict:
    try:
        return CHECKS[name](timeline)
    except Exception as error:
        return Verdict(f"The check {name}", None, f"The check itself failed: {type(error).__name__}: {error}")
