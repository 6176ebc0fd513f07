"""The world: how fast its scheduler, its stories and its servers are, and how long `import labkit` takes.

Time is the processor's: a run waits for nothing real. On «world / fakeredis»: both sides send the same commands through
a genuine redis-py client to a fakeredis server, and both sides build their server and client anew in each round. The
one side is what a test without a world would use, `fakeredis.FakeRedis`; the other is one client's code in a World,
with all that this adds: latency, rules, greenlets, the truth read after each command, four events a command, and the
sealed timeline. A world switches the cyclic collector off while it runs, so it is off on both sides. The commands are
a lock holder's turn: SET NX PX, another's SET NX PX that is refused, GET, SET, and the compare-and-delete by EVALSHA.
The client is left to its defaults. What a world costs once, its opening and its closing, is part of the figure, spread
over 100 commands. The addition is much the same for each command, so the ratio is better for scripts than for GETs.
"""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections import deque
from statistics import median
from typing import Any

from .common import Figure, Row, interleave, no_collector, ratios, summary, timed

TASKS, SLEEPS = 100, 1_000
TURNS = 20  # of five commands each: short rounds, so that a busy moment slows both sides
DELETE_IF_OURS = "return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('DEL', KEYS[1]) or 0"


class Anybody:
    """The least that the hub wants to know of a node."""

    name, paused, crashed, ours = "", False, False, True

    def __init__(self) -> None:
        self.held_back: deque[Any] = deque()
        self.random = random.Random(0)

    def wall(self) -> float:
        return 0.0

    def thread_died(self, thread: str, error: Exception) -> None:
        raise error


def events(rounds: int) -> list[Row]:
    """Tasks that do nothing but sleep, in a hub without a world: each wake-up is one event."""
    rates = [_events_a_second() for _ in range(rounds)]
    note = f"{TASKS} tasks that sleep in a loop"
    return [summary("scheduler events a second", rates, goal=250_000, sense="at least", note=note)]


def _events_a_second() -> float:
    from labkit.sim.choices import Choices
    from labkit.sim.hub import Hub

    hub, node = Hub(Choices()), Anybody()

    def sleeper(micros: int) -> None:
        for _ in range(SLEEPS):
            hub.sleep(micros)

    for number in range(TASKS):
        hub.spawn(node, "", sleeper, 100 + number)
    seconds = timed(lambda: hub.run(10**12))
    assert hub.count > TASKS * SLEEPS
    hub.close()
    return hub.count / seconds


def gc_pause(rounds: int) -> list[Row]:
    """The story of two clients and a pause, from its name to its timeline; collector as it is for a reader: on."""
    from labkit import play

    times = interleave(rounds * 3, time.process_time, play=lambda: play("gc-pause"))["play"]
    note = f"{len(play('gc-pause'))} events, as a reader plays it"
    return [summary("gc-pause, two clients", [s * 1000 for s in times], unit="ms", goal=8, note=note)]


def over_fakeredis(rounds: int) -> list[Row]:
    """The same commands through fakeredis alone and through a world on top of it."""
    with no_collector():
        times = interleave(rounds * 10, time.process_time, alone=_alone, world=_in_a_world)
    alone, world = (median(times[name]) * 1e6 / (5 * TURNS) for name in ("alone", "world"))
    note = f"{alone:.0f} µs a command alone, {world:.0f} µs in a world"
    return [summary("world / fakeredis", ratios(times["world"], times["alone"]), unit="×", goal=1.5, note=note)]


def _alone() -> None:
    import fakeredis

    _commands(fakeredis.FakeRedis(server=fakeredis.FakeServer(version=(7, 0))))


def _in_a_world() -> None:
    from labkit import World

    with World() as world:
        world.server("redis")
        world.client("A").start(lambda me: _commands(me.redis()))
        world.run()


def _commands(redis: Any) -> None:
    sha = redis.script_load(DELETE_IF_OURS)
    for turn in range(TURNS):
        assert redis.set("lock", f"token {turn}", nx=True, px=10_000)
        assert not redis.set("lock", "another's", nx=True, px=10_000)
        redis.get("sold")
        redis.set("sold", turn)
        assert redis.evalsha(sha, 1, "lock", f"token {turn}")


def importing(rounds: int) -> list[Row]:
    """`import labkit` in a fresh process, with the interpreter's own start in the figure; best of several, for what a
    busy machine adds is not the import's. What the first world loads is reported beside."""
    bare, labkit, first = (_best(rounds, code) for code in ("pass", "import labkit", "import labkit; labkit.World()"))
    note = f"a fresh process, the interpreter's {bare:.3f} s included; best of {rounds}"
    beside = "likewise, with redis-py, fakeredis and Lua"
    return [Row("import labkit", labkit, "s", 0.25, note=note), Row("… and a first World", first, "s", note=beside)]


def _best(rounds: int, code: str) -> float:
    start = [sys.executable, "-c", code]
    return min(timed(lambda: subprocess.run(start, check=True), time.perf_counter) for _ in range(rounds))


FIGURES: dict[str, Figure] = {
    "events": events,
    "gc-pause": gc_pause,
    "over-fakeredis": over_fakeredis,
    "import": importing,
}
