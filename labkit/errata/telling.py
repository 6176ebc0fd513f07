"""More ways to show something than `played`: with a sentence of the run's own figures in front, or one command by hand.

Nothing here decides: a check does, or a comparison in the erratum's own file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..checks import judge
from ..sim import World
from ..stories import play
from ..timeline import Timeline
from .erratum import Run, Shown, compared


def played_and(story: str, check: str, say: Callable[[Timeline], str], **params: Any) -> Run:
    """As `played`; `say` puts what a reader should know of this run before what the check found."""

    def run() -> Shown:
        timeline = play(story, **params)
        (verdict,) = judge(timeline, check).verdicts
        return Shown(verdict.holds, f"{say(timeline)} {verdict.why}", timeline.token)

    return run


def found_in(story: str, ask: Callable[[Timeline], Shown], **params: Any) -> Run:
    """A run that plays a story and compares something in it that no check asks for."""

    def run() -> Shown:
        timeline = play(story, **params)
        shown = ask(timeline)
        return Shown(shown.holds, shown.why, timeline.token)

    return run


def by_hand(act: Callable[[Any], Shown]) -> Run:
    """What `act` shows with a client of a fresh server, in a world of its own."""

    def run() -> Shown:
        shown = [compared(False, "The client did not come to an end.")]
        with World() as world:
            world.server("redis")
            world.client("A").start(lambda me: shown.append(act(me.redis())))
            world.run()
        return shown[-1]

    return run


def fences(timeline: Timeline) -> str:
    """Who was granted the lock with which token, in this order."""
    granted = [(op.node, op.value["fence"]) for op in timeline.ops("acquire") if op.outcome == "ok"]
    return "The tokens: " + ", ".join(f"{node} got {fence}" for node, fence in granted) + "."
