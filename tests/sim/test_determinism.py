"""Same story, seed and tape, same timeline: in one process, in another, under any collector and any hash seed."""

from __future__ import annotations

import gc
import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from labkit import judge, play, replay
from labkit.stories import STORIES
from labkit.timeline import Timeline

SEEDS = range(11)


def digest(seeds: range = SEEDS) -> dict[str, str]:
    """Of each story, what its runs hash to."""
    runs = {name: "".join(play(name, seed=seed).to_json() for seed in seeds) for name in STORIES}
    return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in runs.items()}


def fresh(code: str, **environment: str) -> str:
    """What a fresh process prints."""
    env = {**os.environ, **environment}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=env, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def threshold() -> Iterator[Any]:
    before = gc.get_threshold()
    yield gc.set_threshold
    gc.set_threshold(*before)


@pytest.mark.parametrize("name", STORIES)
def test_every_story_twice_is_the_same_run(name: str) -> None:
    for seed in SEEDS:
        first, second = play(name, seed=seed), play(name, seed=seed)
        assert first == second
        assert first.to_json() == second.to_json()


@pytest.mark.parametrize("name", STORIES)
def test_a_wandering_seed_gives_another_run(name: str) -> None:
    assert play(name, seed=1).events != play(name).events


@pytest.mark.parametrize("name", STORIES)
def test_every_story_goes_through_json_unchanged(name: str) -> None:
    for seed in (0, 5):
        timeline = play(name, seed=seed)
        again = Timeline.from_json(timeline.to_json())
        assert again == timeline
        assert again.to_json() == timeline.to_json()
        assert (again.belief(), again.truth(), again.ops()) == (timeline.belief(), timeline.truth(), timeline.ops())


@pytest.mark.parametrize("name", STORIES)
def test_the_token_gives_the_run_again(name: str) -> None:
    for seed in (0, 3):
        timeline = play(name, seed=seed, **({"ttl": 7} if "ttl" in STORIES[name].params else {}))
        assert replay(timeline.token) == timeline


def test_the_collectors_threshold_does_not_matter(threshold: Any) -> None:
    threshold(1)
    eager = digest(range(2))
    threshold(10**6)
    assert digest(range(2)) == eager


def test_neither_the_process_nor_its_hash_seed_matters() -> None:
    code = "import json; from tests.sim.test_determinism import digest; print(json.dumps(digest(range(4))))"
    here = digest(range(4))
    for hash_seed in ("1", "2"):
        assert json.loads(fresh(code, PYTHONHASHSEED=hash_seed)) == here


def test_a_run_played_after_others_is_the_same_run() -> None:
    alone = json.loads(fresh("import json; from labkit import play; print(json.dumps(play('shared-id').to_json()))"))
    for name in STORIES:
        play(name, seed=2)
    assert play("shared-id").to_json() == alone


@pytest.mark.parametrize("seed", [0, 4])
def test_a_failing_run_prints_a_call_that_gives_it_again_in_a_fresh_process(seed: int) -> None:
    timeline = play("late-release", seed=seed, ttl=8, work=12.5)
    printed = str(judge(timeline))
    call = re.search(r"labkit\.replay\(.*\)", printed)
    assert call, printed
    assert fresh(f"import labkit; print({call[0]}.to_json(), end='')") == timeline.to_json()


def test_no_timeline_shows_an_address() -> None:
    assert not any(re.search(r"0x[0-9a-f]{6}", play(name, seed=1).to_json()) for name in STORIES)
