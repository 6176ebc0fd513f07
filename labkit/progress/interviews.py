"""What a mock interview leaves in the progress file: a `Reply` for each thing said, a `Review` for each answer scored.

A reply is noted before it is scored, so that words are on disk whatever comes next. A review holds what was ticked and
timed and nothing that is computed from it: levels, and when a question is due again, follow from the reviews by rules
that stand in `labkit.interview`. So two files that are merged agree, and a rule that gets better holds for old
interviews too. As everywhere here, `is_…` reads what may be anybody's, and `examine_…` refuses what is to be written.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

ASKED = re.compile(r"[nq][0-9]{1,3}")  # of an interview: n1 is oral only, q1 is an exercise too
GOT = ("yes", "partly", "no", "")  # whether the follow-up was answered; "" is not told
PROVED = ("first", "after", "")  # when its run was looked at: before the printed answer, after it, or not

YEARS = range(2000, 2900)  # of a time: a question may be due a hundred years later, and Windows knows years up to 3000


@dataclass(frozen=True, repr=False)
class Reply:
    """What was said to `question` in the interview called `interview`, at `at` (UTC), after `seconds` of thinking and
    saying. follow_up: which one it answers, 0 for the question itself.  text: empty for what was said aloud."""

    interview: str
    question: str
    follow_up: int
    text: str
    seconds: float
    at: str

    def __repr__(self) -> str:
        said = f"{len(self.text.split())} words" if self.text else "aloud"
        return f"Your answer to {self.question}, {said}, in {self.seconds:.0f} s."


@dataclass(frozen=True, repr=False)
class Review:
    """How one answer was scored by whoever gave it.

    points, wrong: numbers, from 1 on, of the key points that it had and of the wrong answers that it gave; `of`: how
    many key points there are.  clear: from 1 to 4, how well it could be followed; 0 is not told.  follow_up: the one
    that was asked, 0 for none.  got: one of GOT.  proved: one of PROVED.  seconds: of the answer; spoken: aloud."""

    interview: str
    question: str
    points: tuple[int, ...]
    wrong: tuple[int, ...]
    of: int
    clear: int
    follow_up: int
    got: str
    proved: str
    seconds: float
    spoken: bool
    at: str

    @property
    def when(self) -> datetime:
        """The moment of the review, in UTC."""
        return moment(self.at)

    def __repr__(self) -> str:
        return f"{len(self.points)} of {self.of} key points for {self.question}."


def moment(at: str) -> datetime:
    """A time of the file as a datetime in UTC. Raises ValueError for what is none, has no time zone, or lies in none of
    the YEARS."""
    time = datetime.fromisoformat(at)
    if time.tzinfo is None:
        raise ValueError(f"{at!r} names no time zone.")
    if time.year not in YEARS:
        raise ValueError(f"The year of {at!r} must be one from {YEARS[0]} to {YEARS[-1]}.")
    return time.astimezone(UTC)


# --- what is read


def is_reply(entry: Any) -> bool:
    """Whether an entry has what a reply needs."""
    return _reads(lambda: examine_reply(to_reply(entry)))


def is_review(entry: Any) -> bool:
    """The same of a review; one without a readable time is none, since it could not be put in order."""
    return _reads(lambda: examine_review(to_review(entry))) and _reads(lambda: moment(entry["at"]))


def to_reply(entry: dict[str, Any]) -> Reply:
    """The value of an entry that `is_reply`."""
    return Reply(**{name: entry[name] for name in Reply.__dataclass_fields__})


def to_review(entry: dict[str, Any]) -> Review:
    """The value of an entry that `is_review`."""
    values = {name: entry[name] for name in Review.__dataclass_fields__}
    return Review(**values | {"points": tuple(entry["points"]), "wrong": tuple(entry["wrong"])})


def _reads(examine: Callable[[], Any]) -> bool:
    try:
        examine()
    except (TypeError, KeyError, ValueError, OverflowError):
        return False
    return True


# --- what is refused


def examine_reply(reply: Reply) -> None:
    """Raise ValueError for what cannot be noted as a reply."""
    _examine_place(reply.interview, reply.question, reply.follow_up)
    _examine_seconds(reply.question, reply.seconds)
    if not isinstance(reply.text, str):
        raise ValueError(
            f"The answer to {reply.question} is {reply.text!r}; it must be a text, empty if it was spoken."
        )


def examine_review(review: Review) -> None:
    """Raise ValueError for what cannot be noted as a review."""
    name = review.question
    _examine_place(review.interview, name, review.follow_up)
    _examine_seconds(name, review.seconds)
    if not _counts(review.of, 1):
        raise ValueError(f"The number of key points of {name} is {review.of!r}; it must be a whole number from 1 on.")
    _examine_ticks(f"key points ticked for {name}", review.points, review.of)
    _examine_ticks(f"wrong answers ticked for {name}", review.wrong, 99)
    for what, value, allowed in (
        ("clarity", review.clear, (0, 1, 2, 3, 4)),
        ("follow-up", review.got, GOT),
        ("proof", review.proved, PROVED),
        ("word «spoken»", review.spoken, (True, False)),
    ):
        if not any(value == each and type(value) is type(each) for each in allowed):
            raise ValueError(f"The {what} of {name} is {value!r}; it must be one of: {', '.join(map(repr, allowed))}.")


def _examine_place(interview: object, question: object, follow_up: object) -> None:
    if not isinstance(interview, str) or not interview:
        raise ValueError(f"The interview is {interview!r}; it must have a name.")
    if not (isinstance(question, str) and ASKED.fullmatch(question)):
        raise ValueError(f"The question is {question!r}; it must be the name of a question, like 'n1' or 'q1'.")
    if not _counts(follow_up, 0):
        raise ValueError(f"The follow-up of {question} is {follow_up!r}; it must be its number, 0 for none.")


def _examine_seconds(question: str, seconds: object) -> None:
    good = isinstance(seconds, int | float) and not isinstance(seconds, bool) and math.isfinite(seconds)
    if not good or seconds < 0:  # type: ignore[operator]  # a number by now
        raise ValueError(f"The time of {question} is {seconds!r}; it must be seconds, 0 or more.")


def _examine_ticks(what: str, ticks: Iterable[object], most: int) -> None:
    numbers = list(ticks)
    if not all(_counts(each, 1) and each <= most for each in numbers) or len(set(numbers)) < len(numbers):  # type: ignore[operator]
        raise ValueError(f"The {what} are {numbers!r}; they must be different whole numbers from 1 to {most}.")


def _counts(value: object, least: int) -> bool:
    return type(value) is int and least <= value < 10**6
