"""Chance in a world is drawn from the seed: two equal runs throw the same dice, two clients do not."""

from __future__ import annotations

import os
import random
import secrets
import uuid
from collections.abc import Callable
from typing import Any

import pytest

from labkit.sim.choices import Choices
from tests.sim.playing import play, result

SOURCES: dict[str, Callable[[], Any]] = {  # each looks its name up when it is called
    "os.urandom": lambda: os.urandom(12),
    "uuid4": lambda: uuid.uuid4(),
    "uuid1": lambda: uuid.uuid1(),
    "random": lambda: random.random(),
    "uniform": lambda: random.uniform(0, 1),
    "getrandbits": lambda: random.getrandbits(64),
    "shuffle": lambda: random.sample(range(1000), 5),
    "an own generator": lambda: random.Random().random(),
    "the system's generator": lambda: random.SystemRandom().random(),
    "token_hex": lambda: secrets.token_hex(),
    "token_bytes": lambda: secrets.token_bytes(),
    "randbelow": lambda: secrets.randbelow(10**9),
}


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_equal_runs_throw_equal_dice(source: Callable[[], Any]) -> None:
    assert result(lambda me: source()) == result(lambda me: source())


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_another_seed_throws_others(source: Callable[[], Any]) -> None:
    assert result(lambda me: source()) != result(lambda me: source(), seed=1)


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_two_clients_throw_different_dice(source: Callable[[], Any]) -> None:
    thrown: list[Any] = []
    play(lambda me: thrown.append(source()), lambda me: thrown.append(source()))
    assert thrown[0] != thrown[1]


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_one_source_does_not_repeat_itself(source: Callable[[], Any]) -> None:
    first, second = result(lambda me: (source(), source()))
    assert first != second


def test_a_seed_of_ones_own_is_kept() -> None:
    expected = random.Random(7).random()
    assert result(lambda me: random.Random(7).random()) == expected
    assert result(lambda me: (random.seed(7), random.random())[1]) == expected


def test_a_run_leaves_the_dice_of_its_caller_alone() -> None:
    random.seed(3)
    expected = [random.random(), random.random()]
    random.seed(3)
    first = random.random()
    play(lambda me: (random.seed(9), random.random()))
    assert [first, random.random()] == expected


# -- the oracle ---------------------------------------------------------------------------------------------------


def test_the_plain_schedule_takes_every_default() -> None:
    choices = Choices()
    assert [choices.pick("latency", "A", 6) for _ in range(5)] == [0] * 5
    assert choices.tape == "."


def test_a_seed_wanders_and_its_tape_says_where() -> None:
    wandering = Choices(seed=4)
    picked = [wandering.pick("latency", "A", 6) for _ in range(9)]
    assert any(picked)
    again = Choices(seed=4, tape=wandering.tape)
    assert [again.pick("latency", "A", 6) for _ in range(9)] == picked


def test_a_choice_is_known_by_kind_node_and_number() -> None:
    choices = Choices(tape="latency.A.2=3,tie.redis.1=1")
    assert [choices.pick("latency", "A", 6), choices.pick("latency", "B", 6), choices.pick("latency", "A", 6)] == [
        0,
        0,
        3,
    ]
    assert choices.pick("tie", "redis", 3) == 1
    assert choices.tape == "latency.A.2=3,tie.redis.1=1"


def test_a_choice_beyond_the_last_alternative_is_the_last() -> None:
    assert Choices(tape="latency.A.1=99").pick("latency", "A", 6) == 5


def test_the_empty_tape_is_a_dot() -> None:
    assert Choices(seed=5, tape=".").pick("latency", "A", 6) == 0
    assert Choices(seed=5, tape=".").tape == "."


@pytest.mark.parametrize(
    "entry", ["latency", "latency.A=1", "latency.A.1", "latency.A.1=x", "latency.A.x=2", "latency.A.0=1", "..=1", "a b"]
)
def test_a_tape_that_cannot_be_read_is_refused_by_its_entry(entry: str) -> None:
    with pytest.raises(ValueError, match=r"does not read kind\.node\.nth=choice") as refused:
        Choices(tape=f"latency.B.1=1,{entry}")
    assert repr(entry) in str(refused.value)


def test_a_tape_played_back_gives_the_wandering_run_again() -> None:
    def code(me: Any) -> None:
        redis = me.redis()
        for n in range(5):
            redis.set("x", n)

    from labkit.sim import World

    with World(seed=6) as world:
        world.client("A").start(code)
        wandered, tape = world.run(), world.choices.tape
    assert play(code, seed=6, tape=tape).events == wandered.events
    assert play(code, seed=6, tape=".").events != wandered.events
