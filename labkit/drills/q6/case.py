"""What a play of question 6 consists of: who calls, what happens when, and what strikes in the course of a call."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Any

WORDS = "orders stock invoice mail-run night-batch seats ledger report cache-fill payout".split()


@dataclass(frozen=True)
class Hook:
    """Strikes once, when `client` calls one of `methods`, at the `nth` time (from 1). when: "after" the reply, before
    the answer gets it; "watched": likewise, if it has set a watch on what is not its own and is there; "during": on the
    way. do: "free", the holder `whom` leaves, or "expire", the session of `whom` ends."""

    client: str
    methods: tuple[str, ...]
    do: str
    whom: str
    when: str = "after"
    nth: int = 1


@dataclass(frozen=True)
class Caller:
    """A call of `acquire`. comes: second of the run.  holds: seconds, or None: until it is told to leave.  lane: names
    a second thread of the same client."""

    client: str
    comes: float
    timeout: float
    holds: float | None = None
    lane: str = ""


@dataclass(frozen=True)
class Act:
    """At second `at`: do "free", "expire" or "crash" to `whom`; or set its wall "clock" by so many seconds."""

    at: float
    do: str
    whom: str
    by: float = 0.0


@dataclass(frozen=True)
class Case:
    """One play. first: how many children the path has had.  born: the zxid up to now.  slow: seconds that the CREATE of
    a client takes longer.  session: seconds."""

    path: str
    first: int
    born: int
    callers: tuple[Caller, ...] = ()
    acts: tuple[Act, ...] = ()
    hooks: tuple[Hook, ...] = ()
    slow: tuple[str, float] = ("", 0.0)
    session: float = 30.0
    until: float = 120.0


def case(draw: random.Random) -> Case:
    path = f"/locks/{draw.choice(WORDS)}-{draw.randrange(100)}"
    return Case(path, first=draw.randrange(3, 2000), born=draw.randrange(2**32, 2**40))


def but(plain: Case, **changes: Any) -> Case:
    return replace(plain, **changes)
