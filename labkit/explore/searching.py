"""The shortest schedule that breaks a claim, or the statement that there is none within stated bounds.

    found = search("gc-pause", "no_stale_write", faults=("pause", "lose"), most=2)
    found.outcome      BROKEN: `found.token` plays it again.  EXHAUSTED: every schedule within the bounds was played and
                       none broke it.  UNKNOWN: the budget was spent first.

A schedule places up to `most` faults; a fault may strike whenever a client sends a command (labkit.faults.taped). They
are played level by level, in one order that is laid down beforehand, so the first that breaks is a shortest one, and it
is the same for any number of workers. What the budget leaves over beyond a level is spent on schedules drawn at random.
It does not vary latencies, and what it says of a claim holds for this story alone.
"""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice
from typing import Any

import cloudpickle

from ..checks import CHECKS
from ..faults.taped import KINDS
from ..stories import find
from ..story import Story
from ..verdict import Verdict
from .schedules import Check, Job, Place, Played, Schedule, minimise, play_all, tape_of

CHUNK = 16  # schedules a worker is given at a time
AHEAD = 8  # chunks in flight


class Outcome(StrEnum):
    """What a search can say."""

    BROKEN = "broken"
    EXHAUSTED = "not broken within the bounds"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Bounds:
    """faults: kinds that may strike.  most: how many in one schedule.  must: one of them at least is of these kinds,
    and it takes that one to break the claim (none named: any schedule counts).  menu: of each kind, the first so many
    spans.  runs: schedules to be played at most.  seconds: real time, None for no limit; with one, the answer may
    depend on the machine."""

    faults: tuple[str, ...] = tuple(KINDS)
    most: int = 2
    must: tuple[str, ...] = ()
    menu: int = 3
    runs: int = 20_000
    seconds: float | None = None

    def __post_init__(self) -> None:
        for kind in (*self.faults, *self.must):
            if kind not in KINDS:
                raise ValueError(f"No fault is called {kind!r}; there are {', '.join(KINDS)}.")
        if not self.faults or len(set(self.faults)) < len(self.faults):
            raise ValueError(f"faults={self.faults!r} leaves nothing to place, or names a kind twice.")
        if not set(self.must) <= set(self.faults):
            raise ValueError(f"must={self.must!r} names a kind that is not among faults={self.faults!r}.")
        for name, value in (("most", self.most), ("menu", self.menu), ("runs", self.runs)):
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"{name}={value!r} is no bound: give a whole number from 1 on.")

    def __str__(self) -> str:
        must = f", one of them {' or '.join(self.must)}" if self.must else ""
        spans = "" if self.menu > 2 else ", one span each" if self.menu == 1 else ", two spans each"
        return f"up to {self.most} fault(s) of {', '.join(self.faults)}{must}{spans}"


@dataclass(frozen=True)
class Found:
    """The answer. schedule: the tape of the break.  runs: how many schedules it took.  why: of an UNKNOWN.  doubt: the
    tape of the first run of which the check could not tell."""

    outcome: Outcome
    check: str
    title: str
    bounds: Bounds
    runs: int
    schedule: str = ""
    verdict: Verdict | None = None
    why: str = ""
    doubt: str = ""

    @property
    def token(self) -> str:
        """The replay string of the break; empty if there is none."""
        return f"{self.title} #0 {self.schedule}" if self.outcome is Outcome.BROKEN else ""

    def __str__(self) -> str:
        if self.outcome is Outcome.BROKEN and self.verdict is not None:
            return f"broken: {self.verdict.why}\n  after {self.runs} runs; again: labkit.replay({self.token!r})"
        if self.outcome is Outcome.EXHAUSTED:
            return f"not broken: {self.check} held in all {self.runs} runs of {self.title} with {self.bounds}"
        return f"unknown: {self.why}; {self.check} held in {self.runs} runs of {self.title} with {self.bounds}"

    __repr__ = __str__


# -- searching -------------------------------------------------------------------------------------------------------


def search(
    story: str | Story,
    check: str | Check,
    faults: Sequence[str] = tuple(KINDS),
    most: int = 2,
    must: Sequence[str] = (),
    menu: int = 3,
    runs: int = 20_000,
    seconds: float | None = None,
    executor: Executor | None = None,
    tick: Callable[[int], None] = lambda runs: None,
    **params: Any,
) -> Found:
    """Looks for a schedule that breaks `check` (a name of labkit.checks, or a function timeline -> verdict) in `story`.

    faults, most, must, menu, runs, seconds: see `Bounds`.  executor: who plays, None for this process alone.  tick:
    told now and then how many runs there were.  params: the story's.  Interrupted, it returns what it has.
    Raises ValueError for an unknown story, parameter, check or fault, before anything runs."""
    bounds = Bounds(tuple(faults), most, tuple(must), menu, runs, seconds)
    chosen = find(story)
    chosen.settle(**params)
    job = Job(chosen, params, _check(check), bounds.faults)
    name = check if isinstance(check, str) else getattr(check, "__name__", "the check")
    return _Search(job, bounds, executor, tick, name).result()


def _check(check: str | Check) -> Check:
    if callable(check):
        return check
    if check not in CHECKS:
        raise ValueError(f"No check is called {check!r}; there are {', '.join(CHECKS)}.")
    return CHECKS[check]


@dataclass
class _Search:
    """One search under way. It holds state because it may be interrupted: what is known by then is the answer."""

    job: Job
    bounds: Bounds
    executor: Executor | None
    tick: Callable[[int], None]
    name: str
    runs: int = 0
    fed: int = 0
    best: Played | None = None
    doubt: str = ""
    exhausted: bool = False
    why: str = ""
    places: tuple[Place, ...] = ()
    said: dict[Schedule, bool | None] = field(default_factory=dict)  # what the check has said of each schedule so far
    started: float = field(default_factory=time.monotonic)

    def result(self) -> Found:
        try:
            self._levels()
            if self.best is None and not self.exhausted:
                self._at_random()
        except KeyboardInterrupt:
            self.why = "it was interrupted"
        title = self.job.story.title(**self.job.params)
        if self.best is not None:
            schedule, verdict = self._smallest(self.best)
            return Found(Outcome.BROKEN, self.name, title, self.bounds, self.runs, tape_of(schedule), verdict)
        outcome = Outcome.EXHAUSTED if self.exhausted else Outcome.UNKNOWN
        return Found(outcome, self.name, title, self.bounds, self.runs, why=self.why, doubt=self.doubt)

    def _levels(self) -> None:
        """No fault, one fault, two …: each schedule of a level has one fault more than one of the level before."""
        level: list[Schedule] = [()]
        for depth in range(self.bounds.most + 1):
            following: list[Schedule] = []
            for played in self._play(iter(level), self.bounds.runs):
                holds = self.said[played.schedule] = played.verdict.holds
                if not played.schedule:
                    self.places = played.after
                if holds is False and self._is_theirs(played.schedule, holds):
                    self.best = played
                    return
                if holds is None and not self.doubt and self._is_theirs(played.schedule, holds):
                    self.doubt = tape_of(played.schedule)
                if depth < self.bounds.most and holds is not False:  # what is broken without more needs no more
                    following.extend(self._children(played))
            if self.why:
                return
            level = following
        self.exhausted = True

    def _children(self, played: Played) -> Iterator[Schedule]:
        for place, alternatives in played.after:
            for choice in range(1, min(alternatives, self.bounds.menu + 1)):
                child = (*played.schedule, (place, choice))
                if self._counts(child) or len(child) < self.bounds.most:
                    yield child

    def _counts(self, schedule: Schedule) -> bool:
        kinds = {place.partition(".")[0] for place, _ in schedule}
        return not self.bounds.must or bool(kinds & set(self.bounds.must))

    def _is_theirs(self, schedule: Schedule, holds: bool | None) -> bool:
        """Whether the verdict is owed to a fault that must be there: without those it is another. What a story does
        without any fault counts too."""
        if not schedule or not self.bounds.must:
            return True
        if not self._counts(schedule):
            return False
        rest = tuple(one for one in schedule if one[0].partition(".")[0] not in self.bounds.must)
        if rest not in self.said:
            self.said[rest] = self.job.play(rest).verdict.holds
        return self.said[rest] is not holds

    def _smallest(self, best: Played) -> tuple[Schedule, Verdict]:
        try:
            return minimise(self.job, best, lambda schedule: bool(schedule) and self._is_theirs(schedule, False))
        except KeyboardInterrupt:
            return best.schedule, best.verdict

    def _at_random(self) -> None:
        """A tenth more runs than the budget, on schedules of any length up to twice the bound; the draw is fixed."""
        if not self.places or self.why == "the time is spent":
            return
        draw, most, limit = random.Random("schedules"), 2 * self.bounds.most, self.fed + max(self.bounds.runs // 10, 1)
        drawn = (_drawn(draw, self.places, draw.randint(1, most), self.bounds.menu) for _ in range(limit))
        for played in self._play(filter(self._counts, drawn), limit):
            if played.verdict.holds is False and self._is_theirs(played.schedule, False):
                self.best = played
                return

    # -- playing, here or elsewhere ------------------------------------------------------------------------------

    def _play(self, schedules: Iterator[Schedule], limit: int) -> Iterator[Played]:
        """Plays schedules in their order, until `limit` have been played in all, or the time is over."""
        fed = self._within(limit, schedules)
        for played in self._here(fed) if self.executor is None else self._elsewhere(fed):
            self.runs += 1
            if self.runs % CHUNK == 0:
                self.tick(self.runs)
            yield played

    def _within(self, limit: int, schedules: Iterator[Schedule]) -> Iterator[Schedule]:
        for schedule in schedules:
            if self.fed >= limit:
                self.why = self.why or f"the budget of {self.bounds.runs:,} runs is spent"
                return
            if self.bounds.seconds is not None and time.monotonic() - self.started > self.bounds.seconds:
                self.why = self.why or "the time is spent"
                return
            self.fed += 1
            yield schedule

    def _here(self, schedules: Iterator[Schedule]) -> Iterator[Played]:
        return (self.job.play(schedule) for schedule in schedules)

    def _elsewhere(self, schedules: Iterator[Schedule]) -> Iterator[Played]:
        assert self.executor is not None
        packed, waiting = cloudpickle.dumps(self.job), deque[Future[list[Played]]]()
        try:
            while True:
                while len(waiting) < AHEAD and (chunk := list(islice(schedules, CHUNK))):
                    waiting.append(self.executor.submit(play_all, packed, chunk))
                if not waiting:
                    return
                yield from waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def _drawn(draw: random.Random, places: Sequence[Place], number: int, menu: int) -> Schedule:
    chosen = sorted(draw.sample(range(len(places)), min(number, len(places))))
    return tuple((places[n].name, draw.randrange(1, min(places[n].alternatives, menu + 1))) for n in chosen)
