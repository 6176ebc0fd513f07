"""What a check says of a run: a claim, whether it holds, why, and the events that show it.

A verdict has three values. True: the run put the claim to the test and it held. False: the run breaks it, and
`evidence` names the events (so that a picture can circle them). None: the run cannot tell, because nothing put the
claim to the test or because what happened is not recorded. Several verdicts are as good as the worst of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

WORDS = {True: "holds", False: "BROKEN", None: "unknown"}


@dataclass(frozen=True, slots=True)
class Verdict:
    """One claim judged on one timeline.

    claim: what should be true, in one sentence.  holds: True, False or None (cannot tell).
    why: a whole sentence that names the nodes, the lock and the times.  evidence: `Event.seq` numbers.
    """

    claim: str
    holds: bool | None
    why: str
    evidence: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"{WORDS[self.holds]:>7}  {self.claim}\n         {self.why}"

    def __bool__(self) -> bool:
        raise TypeError("A verdict has three values: ask `verdict.holds is True`, `is False` or `is None`.")


def worst(verdicts: Iterable[Verdict]) -> bool | None:
    """False if any is False, else None if any is None, else True. Of no verdict at all: None."""
    values = {verdict.holds for verdict in verdicts}
    if False in values:
        return False
    return None if None in values or not values else True
