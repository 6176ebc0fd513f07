"""How one criterion is put to the test, in two halves that never meet in one process.

`play` calls the answer and writes down what happened; it runs beside code that may do anything, so what it hands over
is plain data. `judge` reads that and decides; the process it runs in has never seen the answer. A trial has variants
(Redis refuses, Redis is silent, …), each played on fresh seeds: times, names and latencies differ from check to check.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ..timeline import Timeline

Function = Callable[..., Any]


class Outcome(StrEnum):
    """How a check ended. Only PASS earns points. NOT_TESTED: the answer never came to the point where it counts."""

    PASS = "pass"
    FAIL = "fail"
    ERROR = "error"
    TIME_OUT = "time-out"
    MEMORY = "memory"
    NOT_TESTED = "not tested"
    NOT_ATTEMPTED = "not attempted"


@dataclass(frozen=True)
class Setting:
    """One play: `draw` gives everything that is free in it."""

    question: str
    check: str
    variant: str
    seed: int
    patience: float = 1.0

    @property
    def draw(self) -> random.Random:
        return random.Random(f"{self.variant}/{self.seed}")

    @property
    def token(self) -> str:
        """The string that has this very play again."""
        return ":".join((self.question, self.check.replace(" ", "-"), self.variant, str(self.seed)))


@dataclass(frozen=True)
class Run:
    """What a play left for the judge. facts: plain data.  stopped: why it did not come to its end, if so."""

    setting: Setting
    facts: Mapping[str, Any] = field(default_factory=dict)
    timeline: Timeline | None = None
    stopped: tuple[Outcome, str] | None = None
    printed: str = ""


@dataclass(frozen=True)
class Remark:
    """What a judge says of one run: the symptom, in whole sentences, never the cure. evidence: numbers of events."""

    outcome: Outcome
    message: str = ""
    evidence: tuple[int, ...] = ()


PASS = Remark(Outcome.PASS)


def fail(message: str, *evidence: int) -> Remark:
    return Remark(Outcome.FAIL, message, evidence)


def error(message: str) -> Remark:
    return Remark(Outcome.ERROR, message)


def not_tested(message: str) -> Remark:
    return Remark(Outcome.NOT_TESTED, message)


@dataclass(frozen=True)
class Trial:
    """of: the function under test.  play: (function, setting) -> (facts, timeline or None).  judge: run -> remark."""

    of: str
    play: Callable[[Function, Setting], tuple[Mapping[str, Any], Timeline | None]]
    judge: Callable[[Run], Remark]
    variants: tuple[str, ...] = ("plain",)
