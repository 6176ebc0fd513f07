"""Judging: several checks at once, a check that fails, a run in which nothing happened."""

from __future__ import annotations

import pytest

from labkit.checks import CHECKS, judge
from labkit.stories import play
from labkit.timeline import Timeline
from labkit.verdict import Verdict


def test_a_check_that_fails_says_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CHECKS, "honest", lambda timeline: 1 // 0)  # type: ignore[arg-type, return-value]
    verdict = judge(Timeline(()), "honest").verdicts[0]
    assert verdict.holds is None and "ZeroDivisionError" in verdict.why


def test_a_check_that_does_not_exist_is_named() -> None:
    with pytest.raises(ValueError, match="No check is called 'onest'; there are contended, exclusive_grants"):
        judge(Timeline(()), "onest")


@pytest.mark.parametrize("name", [name for name in CHECKS if name != "finishes"])
def test_an_empty_run_tells_nothing(name: str) -> None:
    assert CHECKS[name](Timeline(())).holds is None


def test_a_broken_run_says_how_to_have_it_again() -> None:
    assert "again: labkit.replay('late-release #0')" in str(judge(play("late-release")))


def test_a_verdict_is_not_a_truth_value() -> None:
    with pytest.raises(TypeError, match="three values"):
        bool(Verdict("a claim", None, "why"))
