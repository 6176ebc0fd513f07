"""Each check on its golden timelines: what it answers, and which events it points to."""

from __future__ import annotations

import pytest

from labkit.checks import CHECKS
from labkit.timeline import Timeline
from tests.golden.make import FOLDER, GOLDEN, text


def stored(name: str) -> str:
    return (FOLDER / f"{name}.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", GOLDEN)
def test_the_stored_run_is_the_run(name: str) -> None:
    assert stored(name) == text(GOLDEN[name])  # meant? then `python tests/golden/make.py`


@pytest.mark.parametrize("name", GOLDEN)
def test_the_verdict(name: str) -> None:
    verdict = CHECKS[name.split("-")[0]](Timeline.from_json(stored(name)))
    assert verdict.holds is GOLDEN[name].holds, verdict


@pytest.mark.parametrize("name", GOLDEN)
def test_the_evidence(name: str) -> None:
    timeline = Timeline.from_json(stored(name))
    seen = [timeline.events[seq] for seq in CHECKS[name.split("-")[0]](timeline).evidence]
    assert tuple(f"{e.node} {e.kind} {e.name.split()[0]}" for e in seen) == GOLDEN[name].shown_by


def test_no_file_is_left_over() -> None:
    assert {path.stem for path in FOLDER.glob("*.json")} == set(GOLDEN)


def test_each_check_has_a_good_run_and_a_bad_or_an_unknown_one() -> None:
    kinds = {(name.split("-")[0], name.split("-")[1]) for name in GOLDEN}
    never_bad = {"contended"}
    assert kinds == {(c, k) for c in CHECKS for k in ("good", "bad", "unknown")} - {(c, "bad") for c in never_bad}
