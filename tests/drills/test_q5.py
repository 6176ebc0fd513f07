"""The stage of question 5: each variant of each check really brings the model answer to the point in question."""

from __future__ import annotations

import pytest

from labkit.drills.drill import load
from labkit.drills.q5.model import run
from labkit.drills.trial import PASS, Outcome, Run, Setting

TRIALS = load("q5").trials
PLAYS = [(check, variant) for check, trial in TRIALS.items() for variant in trial.variants]


def played(check: str, variant: str, answer: object = run, seed: int = 7) -> Run:
    setting = Setting("q5", check, variant, seed, patience=10.0)
    return Run(setting, *TRIALS[check].play(answer, setting))  # type: ignore[arg-type]


@pytest.mark.parametrize(("check", "variant"), PLAYS)
def test_the_model_answer_comes_to_the_point_in_every_variant(check: str, variant: str) -> None:
    assert TRIALS[check].judge(played(check, variant)) == PASS


@pytest.mark.parametrize(("check", "variant"), PLAYS)
def test_doing_nothing_at_all_earns_nothing(check: str, variant: str) -> None:
    nothing = played(check, variant, lambda lock, steps, write, stopping: None)
    assert TRIALS[check].judge(nothing).outcome is not Outcome.PASS


def test_the_same_seed_gives_the_same_play() -> None:
    assert played("no late write", "paused").timeline == played("no late write", "paused").timeline


def test_an_outage_of_the_server_ends_when_the_case_says_so() -> None:
    timeline = played("transient errors", "refusal").timeline
    assert timeline is not None
    assert len(timeline.find("restart", "redis")) == 1
    assert not [event for event in timeline if event.data.get("unfinished")]
