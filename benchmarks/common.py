"""What all measurements share: rows, interleaved rounds, and honest statistics.

A figure is the median of its rounds and is shown with the middle half of them. Two things are compared by the median of
the ratios taken round by round, so that what slows one round slows both of its sides. A figure that could not be taken
is a row without a number and never counts as reached.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Literal

Sense = Literal["at most", "below", "at least"]


@dataclass(frozen=True, slots=True)
class Row:
    """One figure and its goal (None: only reported). `figure` None: not measured, and `note` says why.

    spread: the lower and the upper quartile of the rounds.  note: on what the figure stands."""

    name: str
    figure: float | None
    unit: str = ""
    goal: float | None = None
    sense: Sense = "at most"
    spread: tuple[float, float] | None = None
    note: str = ""

    @property
    def verdict(self) -> Literal["ok", "short", "reported", "missing"]:
        if self.figure is None:
            return "missing"
        if self.goal is None:
            return "reported"
        reached = {
            "at most": self.figure <= self.goal,
            "below": self.figure < self.goal,
            "at least": self.figure >= self.goal,
        }
        return "ok" if reached[self.sense] else "short"

    @property
    def failed(self) -> bool:
        """Whether this row makes the whole run fail: a goal missed, or a goal with nothing to show for it."""
        return self.verdict == "short" or (self.figure is None and self.goal is not None)


Figure = Callable[[int], list[Row]]  # rounds -> rows; each figure makes of `rounds` what is fit for it


def interleave(rounds: int, clock: Callable[[], float], **cases: Callable[[], object]) -> dict[str, list[float]]:
    """Seconds by `clock` that each case took in each round. Every round runs all cases once, and begins with another
    one than the round before; an extra first round warms up and is not counted."""
    names = list(cases)
    times: dict[str, list[float]] = {name: [] for name in names}
    for number in range(-1, rounds):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            start = clock()
            cases[name]()
            if number >= 0:
                times[name].append(clock() - start)
    return times


def summary(name: str, values: list[float], **of_row: object) -> Row:
    """A row of the median of `values` and their middle half."""
    return Row(name, median(values), spread=middle_half(values), **of_row)  # type: ignore[arg-type]


def ratios(of: list[float], to: list[float]) -> list[float]:
    """Round by round, how many times as long `of` took as `to`."""
    return [one / other for one, other in zip(of, to, strict=True)]


def middle_half(values: list[float]) -> tuple[float, float]:
    if len(values) < 2:
        return values[0], values[0]
    lower, _, upper = quantiles(values, n=4, method="inclusive")
    return lower, upper


@contextmanager
def no_collector() -> Iterator[None]:
    """The cyclic collector has run and then stays off: its pauses belong to neither side of a comparison."""
    enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def timed(work: Callable[[], object], clock: Callable[[], float] = time.process_time) -> float:
    """Seconds that `work` takes by `clock`: the processor's time unless said otherwise."""
    start = clock()
    work()
    return clock() - start
