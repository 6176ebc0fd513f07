"""Four axes, four levels each, computed from what was ticked, told, proved and timed. Nobody types a level in.

Each answer gives each axis a share between 0 and 1, or None where the review does not say; the level of an interview is
that of the mean of its shares. `RULE` is the rule in the learner's words. The level of an answer's technical depth is
also how well it was remembered, which is what the next date is computed from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from types import MappingProxyType

from ..progress import Review

LEVELS = ("not yet", "in parts", "sound", "strong")
BOUNDS = (0.30, 0.60, 0.85)  # from which share on the second, third and fourth level begin
ALOUD, WRITTEN = 180, 360  # seconds for an answer; writing is about half as quick as speaking
RULE = (
    "communication: how well you could be followed, by your own word, from 0 (not at all) to 1 (at once); one step of "
    f"three less for an answer of more than {ALOUD // 60} minutes aloud, or {WRITTEN // 60} in writing.\n"
    "problem solving: follow-ups that you answered; half for partly.\n"
    "technical depth: key points that you had, less the wrong answers that you gave, of all key points.\n"
    "verification: follow-ups that you settled by a run; half if you read the answer first.\n"
    "Each is the mean over the interview's answers: not yet, in parts from "
    f"{BOUNDS[0]:.0%}, sound from {BOUNDS[1]:.0%}, strong from {BOUNDS[2]:.0%}."
)


def level(share: float) -> int:
    """The level, from 1 to 4, of a share."""
    return 1 + sum(share >= bound - 1e-9 for bound in BOUNDS)


def allowed(spoken: bool) -> int:
    """How many seconds an answer may take."""
    return ALOUD if spoken else WRITTEN


def communication(review: Review) -> float | None:
    if not review.clear:
        return None
    late = review.seconds > allowed(review.spoken)
    return max(0.0, (review.clear - 1 - late) / 3)


def problem_solving(review: Review) -> float | None:
    return {"yes": 1.0, "partly": 0.5, "no": 0.0}.get(review.got)


def technical_depth(review: Review) -> float:
    return max(0.0, (len(review.points) - len(review.wrong)) / review.of)


def verification(review: Review) -> float | None:
    if not review.got:  # it was left before there was anything to prove
        return None
    return {"first": 1.0, "after": 0.5}.get(review.proved, 0.0)


AXES: Mapping[str, Callable[[Review], float | None]] = MappingProxyType(
    {
        "communication": communication,
        "problem solving": problem_solving,
        "technical depth": technical_depth,
        "verification": verification,
    }
)


@dataclass(frozen=True)
class Summary:
    """One interview: its reviews, in order, and the level of each axis, None where no review says anything of it."""

    interview: str
    reviews: tuple[Review, ...]
    levels: Mapping[str, int | None] = field(hash=False)

    @property
    def when(self) -> datetime:
        """When its first answer was scored, in UTC."""
        return self.reviews[0].when

    @property
    def questions(self) -> tuple[str, ...]:
        return tuple(review.question for review in self.reviews)


def summarise(reviews: Sequence[Review]) -> Summary:
    """The summary of one interview's reviews, of which there is at least one."""
    shares = {axis: [share for r in reviews if (share := of(r)) is not None] for axis, of in AXES.items()}
    levels = {axis: level(sum(each) / len(each)) if each else None for axis, each in shares.items()}
    return Summary(reviews[0].interview, tuple(reviews), levels)


def history(reviews: Iterable[Review]) -> tuple[Summary, ...]:
    """All interviews, by the time at which they began."""
    ordered = sorted(reviews, key=lambda review: review.interview)  # sorted is stable: within one, the order stays
    found = [summarise(list(each)) for _, each in groupby(ordered, key=lambda review: review.interview)]
    return tuple(sorted(found, key=lambda summary: summary.when))


def said(number: int | None) -> str:
    """A level in a word."""
    return "not tested" if number is None else LEVELS[number - 1]
