"""One schedule: which faults strike where, how it is played and judged, and what can be left out of it.

A fault may strike whenever a client sends a command (labkit.faults.taped); a schedule is a tape of such faults, in the
order in which their places come up. What came up after its last fault is where one more could be placed. Which of them
are played, and in what order, is the search's business.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import cloudpickle

from ..sim import ClientDied, World, WorldError
from ..sim.choices import PLAIN
from ..stories import taped
from ..story import Story
from ..timeline import Timeline
from ..verdict import Verdict

Check = Callable[[Timeline], Verdict]


class Place(NamedTuple):
    """A choice that a run could make: "pause.A.3", and how many faults there are to choose from."""

    name: str
    alternatives: int


Schedule = tuple[tuple[str, int], ...]  # places with the choice made there, in the order in which they come up


class Played(NamedTuple):
    """One schedule and what came of it. after: the places that came up after its last fault, in order."""

    schedule: Schedule
    verdict: Verdict
    after: tuple[Place, ...]


@dataclass(frozen=True)
class Job:
    """What a worker needs: the story with its parameters, the claim, the kinds of fault."""

    story: Story
    params: dict[str, Any]
    check: Check
    kinds: tuple[str, ...]

    def play(self, schedule: Schedule) -> Played:
        """One run. Where a fault ends it early, it is judged by what had happened until then. Raises ClientDied if the
        story ends by itself with an error that its code does not handle: then nothing can be said of it."""
        tape = tape_of(schedule)
        with World(0, tape, self.story.title(**self.params)) as world:
            asked = world.choices.listen()
            world.arm(taped(self.story, self.params, self.kinds))
            try:
                timeline = self.story.run(world, **self.params)
            except WorldError as error:
                if not schedule and isinstance(error, ClientDied):
                    raise
                timeline = error.timeline
        return Played(schedule, self.check(timeline), _after(asked, schedule, self.kinds))


def tape_of(schedule: Schedule) -> str:
    return ",".join(f"{place}={choice}" for place, choice in schedule) or PLAIN


def _after(asked: Sequence[tuple[str, int]], schedule: Schedule, kinds: tuple[str, ...]) -> tuple[Place, ...]:
    mine = [Place(*place) for place in asked if place[0].partition(".")[0] in kinds]
    if not schedule:
        return tuple(mine)
    last = next((n for n, place in enumerate(mine) if place.name == schedule[-1][0]), len(mine))
    return tuple(mine[last + 1 :])


def play_all(packed: bytes, schedules: Sequence[Schedule]) -> list[Played]:
    """What a worker does: plays some schedules of a pickled job."""
    job: Job = cloudpickle.loads(packed)
    return [job.play(schedule) for schedule in schedules]


# -- making a break smaller ------------------------------------------------------------------------------------------


def minimise(
    job: Job, broken: Played, counts: Callable[[Schedule], bool] = lambda schedule: True
) -> tuple[Schedule, Verdict]:
    """A schedule of which no fault can be left out without the claim holding again, and its verdict. counts: whether a
    schedule will do at all."""
    schedule, verdict = broken.schedule, broken.verdict
    smaller = True
    while smaller:
        smaller = False
        for n in range(len(schedule)):
            shorter = schedule[:n] + schedule[n + 1 :]
            if counts(shorter) and (played := job.play(shorter)).verdict.holds is False:
                schedule, verdict, smaller = shorter, played.verdict, True
                break
    return schedule, verdict
