"""What is due: each question is a card of FSRS, and its state is replayed from the reviews in the progress file.

Times are UTC wherever they are compared; only `local` makes one for a person to read. Nothing is drawn at random, so
two machines with the same reviews agree. A question that was never asked is new; new ones come in the order of the kit,
after those that are due. What FSRS knows of a person's memory stays in its own package: here are a rating and a date.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo

from fsrs import Card, Rating, Scheduler

from ..drills.drill import NAMES, ORAL
from ..progress import Review
from .scoring import level, technical_depth

ASKED = (*ORAL, *NAMES)  # the opening question first
AGAIN = (timedelta(minutes=10),)  # what was missed is asked again the same day


@dataclass(frozen=True)
class Slot:
    """Where a question stands. due: in UTC, None for a new one.  reviews: how often it was answered."""

    question: str
    due: datetime | None
    reviews: int

    def is_due(self, now: datetime) -> bool:
        return self.due is not None and self.due <= now


def rating(review: Review) -> Rating:
    """How well an answer was remembered: again, hard, good, easy for the four levels of technical depth."""
    return Rating(level(technical_depth(review)))


def due(reviews: Sequence[Review]) -> datetime | None:
    """When a question with these reviews, by time, is to be asked again."""
    if not reviews:
        return None
    scheduler = Scheduler(learning_steps=AGAIN, relearning_steps=AGAIN, enable_fuzzing=False)
    card = Card(card_id=1, due=reviews[0].when)
    for review in reviews:
        card, _ = scheduler.review_card(card, rating(review), review.when)
    return card.due


def slots(reviews: Iterable[Review], names: Sequence[str] = ASKED) -> tuple[Slot, ...]:
    """Where each question stands, in the order of `names`."""
    kept: dict[str, list[Review]] = {name: [] for name in names}
    for review in sorted(reviews, key=lambda review: review.when):
        kept.get(review.question, []).append(review)
    return tuple(Slot(name, due(each), len(each)) for name, each in kept.items())


def pick(plan: Sequence[Slot], now: datetime, most: int) -> tuple[str, ...]:
    """What to ask now, at most so many: what has been due for longest, then what is new, in order."""
    waiting = sorted((slot for slot in plan if slot.is_due(now)), key=lambda slot: slot.due or now)
    new = [slot for slot in plan if slot.due is None]
    return tuple(slot.question for slot in [*waiting, *new][:most])


def upcoming(plan: Sequence[Slot], now: datetime) -> Slot | None:
    """The next question that is not due yet."""
    later = [slot for slot in plan if slot.due is not None and slot.due > now]
    return min(later, key=lambda slot: slot.due or now, default=None)


def local(moment: datetime, zone: tzinfo | None = None) -> str:
    """A time for a person, in `zone` (the machine's own without any): "Sat 29 Nov 2025, 23:30 CET"."""
    here = moment.astimezone(zone)
    return f"{here:%a %d %b %Y, %H:%M} {here.tzname() or here.strftime('%z')}"


def told(slot: Slot, now: datetime, zone: tzinfo | None = None) -> str:
    """When a question is asked: "new", "due since …", "due on …"."""
    if slot.due is None:
        return "new"
    return f"due {'since' if slot.is_due(now) else 'on'} {local(slot.due, zone)}"
