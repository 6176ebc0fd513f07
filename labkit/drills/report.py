"""The verdict on an answer: points that add up, the first failure first, and how to have it again.

A criterion passes if no play of it failed and at least one came to the point; anything else gives it no points, and
says why. The words are the same in a notebook and in a shell.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..timeline import Timeline
from .runner import Judged
from .trial import Outcome, Remark, Run

ORDER = (Outcome.MEMORY, Outcome.TIME_OUT, Outcome.ERROR, Outcome.FAIL)  # the worst of several plays


@dataclass(frozen=True)
class Finding:
    """One criterion with its verdict. again: the string that has the decisive play again."""

    check: str
    asks: str
    of: str
    outcome: Outcome
    worth: int
    message: str = ""
    again: str = ""
    timeline: Timeline | None = None
    evidence: tuple[int, ...] = ()
    printed: str = ""

    @property
    def points(self) -> int:
        return self.worth if self.outcome is Outcome.PASS else 0


def finding(judged: Judged) -> Finding:
    """The verdict on one criterion, from the remarks on its plays."""
    criterion = judged.criterion
    remark, run = _decisive(judged.remarks)
    again = run.setting.token if run and remark.outcome is not Outcome.PASS else ""
    about = (criterion.name, criterion.asks, criterion.of, remark.outcome, criterion.points, remark.message, again)
    if run is None or remark.outcome is Outcome.PASS:
        return Finding(*about)
    return Finding(*about, run.timeline, remark.evidence, run.printed)


def _decisive(remarks: tuple[tuple[Remark, Run | None], ...]) -> tuple[Remark, Run | None]:
    for outcome in (*ORDER, Outcome.PASS):
        for remark, run in remarks:
            if remark.outcome is outcome:
                return remark, run
    return remarks[0]


@dataclass(frozen=True, repr=False)
class Report:
    """findings: in the order of the contract.  notes: what the learner should know of this check.  refused: why
    nothing could be run, if so."""

    question: str
    title: str
    answer: str
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    refused: str = ""

    @property
    def score(self) -> int:
        return sum(each.points for each in self.findings)

    @property
    def of(self) -> int:
        return sum(each.worth for each in self.findings)

    @property
    def attempted(self) -> bool:
        return any(each.outcome is not Outcome.NOT_ATTEMPTED for each in self.findings)

    @property
    def full(self) -> bool:
        return bool(self.findings) and self.score == self.of

    @property
    def first(self) -> Finding | None:
        """The first failure, in the order of the contract; only without any what was not tested."""
        missed = [each for each in self.findings if each.outcome not in (Outcome.PASS, Outcome.NOT_ATTEMPTED)]
        return min(missed, key=lambda each: each.outcome is Outcome.NOT_TESTED, default=None)

    @property
    def status(self) -> int:
        """The exit status of the command: 0 full points, 1 fewer, 2 nothing could be run."""
        return 2 if self.refused else 0 if self.full else 1

    def as_dict(self) -> Mapping[str, Any]:
        rows = [
            {
                "check": each.check,
                "function": each.of,
                "outcome": str(each.outcome),
                "points": each.points,
                "of": each.worth,
                "message": each.message,
                "again": each.again,
            }
            for each in self.findings
        ]
        about = {"question": self.question, "answer": self.answer, "score": self.score, "of": self.of}
        return {**about, "refused": self.refused, "notes": list(self.notes), "findings": rows}

    def __repr__(self) -> str:
        from .show import text

        return text(self)

    def _repr_html_(self) -> str:
        from .show import html

        return html(self)
