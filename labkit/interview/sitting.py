"""One question of an interview under way, as a value: what was said and ticked so far, and what follows from it.

A terminal and a notebook panel ask in their own ways; what they ask, which follow-up comes next and what goes into the
progress file is decided here, once. Each step returns a new value. Words are noted as they come, the review when there
is one: the key points are all ticked.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from ..drills.drill import Drill, FollowUp, spoken
from ..progress import Progress, Reply, Review
from .schedule import ASKED, pick, slots


@dataclass(frozen=True)
class Sitting:
    """One question. heard: how often each of its follow-ups was asked in earlier interviews.  points, wrong: the
    numbers that are ticked, from 1 on.  scored: whether all key points have been gone through.  follow_up: the number
    of the one that was chosen, 0 before.  The rest as in a `Review`."""

    drill: Drill
    interview: str
    heard: tuple[int, ...]
    seconds: float = 0.0
    spoken: bool = True
    points: tuple[int, ...] = ()
    wrong: tuple[int, ...] = ()
    scored: bool = False
    clear: int = 0
    follow_up: int = 0
    got: str = ""
    proved: str = ""

    def answered(self, text: str, seconds: float) -> Sitting:
        """With the answer, which is noted at once; no text: it was said aloud."""
        _note(self, 0, text, seconds)
        return replace(self, seconds=round(seconds, 1), spoken=not text.strip())

    def ticked(self, points: Sequence[int], wrong: Sequence[int]) -> Sitting:
        """With the key points that the answer had, and the wrong answers that it gave; so the follow-up is chosen."""
        chosen = self._next(points)
        return replace(self, points=tuple(points), wrong=tuple(wrong), scored=True, follow_up=chosen)

    def followed(self, text: str, seconds: float) -> Sitting:
        """With the answer to the follow-up, which is noted at once."""
        _note(self, self.follow_up, text, seconds)
        return self

    def proven(self, after: bool) -> Sitting:
        """With the follow-up's run looked at, before its printed answer or `after` it; the first look counts."""
        return self if self.proved else replace(self, proved="after" if after else "first")

    @property
    def asks(self) -> FollowUp:
        """The follow-up that was chosen."""
        return self.drill.rubric.follow_ups[self.follow_up - 1]

    @property
    def missed(self) -> tuple[int, ...]:
        """The key points that the answer did not have."""
        return tuple(n for n in range(1, len(self.drill.rubric.key_points) + 1) if n not in self.points)

    def note(self) -> None:
        """Put the review into the progress file, if there is one."""
        if self.scored:
            Progress.open().note_review(self.review())

    def review(self) -> Review:
        """How the answer was scored."""
        return Review(
            interview=self.interview,
            question=self.drill.name,
            points=self.points,
            wrong=self.wrong,
            of=len(self.drill.rubric.key_points),
            clear=self.clear,
            follow_up=self.follow_up,
            got=self.got,
            proved=self.proved,
            seconds=self.seconds,
            spoken=self.spoken,
            at="",
        )

    def _next(self, points: Sequence[int]) -> int:
        """The follow-up that most of the missed points lead to; of several, the one that was asked least often."""
        follow_ups = self.drill.rubric.follow_ups

        def worth(number: int) -> tuple[int, int, int]:
            after = set(follow_ups[number - 1].after) - set(points)
            return len(after), -self.heard[number - 1], -number

        return max(range(1, len(follow_ups) + 1), key=worth)


def _note(sitting: Sitting, follow_up: int, text: str, seconds: float) -> None:
    name = sitting.drill.name
    Progress.open().note_reply(Reply(sitting.interview, name, follow_up, text.strip(), round(seconds, 1), ""))


def begin(questions: Sequence[str] = (), number: int = 3, now: datetime | None = None) -> tuple[Sitting, ...]:
    """The sittings of one interview: of these questions, else of at most `number` that are due or new at `now` (UTC);
    none, if nothing is. Raises ValueError for a question that there is not, or a number below 1."""
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise ValueError(f"number={number!r} is no number of questions: give a whole number from 1 on.")
    now = now or datetime.now(UTC)
    reviews = Progress.open().record().reviews
    chosen = [spoken(each) for each in questions or pick(slots(reviews), now, min(number, len(ASKED)))]
    name = f"{now:%Y-%m-%dT%H:%M:%SZ}-{secrets.token_hex(2)}"
    return tuple(Sitting(drill, name, _heard(drill, reviews)) for drill in chosen)


def _heard(drill: Drill, reviews: Sequence[Review]) -> tuple[int, ...]:
    asked = [review.follow_up for review in reviews if review.question == drill.name]
    return tuple(asked.count(number) for number in range(1, len(drill.rubric.follow_ups) + 1))
