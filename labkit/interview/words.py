"""What terminal and notebook say alike: spans, choices, and when each question comes again."""

from __future__ import annotations

from datetime import UTC, datetime

from ..drills.drill import spoken
from ..progress import Progress
from .chart import text
from .schedule import slots, told, upcoming
from .scoring import allowed, history


def minutes(seconds: float) -> str:
    """A span as it is read off a clock: 1:05."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


LIMITS = f"{minutes(allowed(True))} aloud, or {minutes(allowed(False))} in writing"
CLEAR = {"1": "not at all", "2": "with trouble", "3": "well", "4": "at once"}  # how well you could be followed
GOT = {"y": "yes", "p": "partly", "n": "no"}  # whether you had answered the follow-up


def plan(now: datetime | None = None) -> str:
    """When each question comes again, a line each."""
    now = now or datetime.now(UTC)
    return "\n".join(
        f"{slot.question:<4}{spoken(slot.question).title:<36}{told(slot, now)}"
        for slot in slots(Progress.open().record().reviews)
    )


def nothing(now: datetime | None = None) -> str:
    """What is said when no question is due."""
    now = now or datetime.now(UTC)
    slot = upcoming(slots(Progress.open().record().reviews), now)
    following = f" The next one is {slot.question}, {told(slot, now)}." if slot else ""
    return f"Nothing is due.{following} To be asked all the same, name a question: `labkit interview n1`."


def past() -> str:
    """All interviews so far, and how the levels went."""
    return text(history(Progress.open().record().reviews))
