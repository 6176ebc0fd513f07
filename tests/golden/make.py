"""Writes the golden timelines: for each check a run in which its claim holds, one that breaks it and, where there is
such a thing, one that cannot tell. `python tests/golden/make.py` after a change that is meant; a test compares.

`GOLDEN` also says what each check must answer and which events it must point to: node, kind and the name's first word.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labkit.locks import LeaseLost, SafeLock
from labkit.stories import find, play
from labkit.story import Story
from labkit.timeline import Timeline

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Golden:
    """One file: the run, the verdict, the events that show it. Named by its check and one word more."""

    play: Callable[[], Timeline]
    holds: bool | None
    shown_by: tuple[str, ...] = ()


def of(story: str, until: float | None = None, **params: Any) -> Callable[[], Timeline]:
    """A run of a story of the course, perhaps cut short."""
    chosen = find(story) if until is None else find(story).but(until=until)
    return lambda: play(chosen, **params)


def _wait_for_ever(me: Any, p: Any) -> None:
    threading.Event().wait()


def _just_look(me: Any, p: Any) -> None:
    me.redis().get("stock")


def _renew_after_release(me: Any, p: Any) -> None:
    lock = me.lock(SafeLock(me.redis(), "stock", 2.0))
    lease = lock.acquire(0)
    lock.release(lease)
    with suppress(LeaseLost):
        lock.extend(lease)


def _renew_and_look_away(me: Any, p: Any) -> None:
    lock = me.lock(SafeLock(me.redis(), "stock", 2.0))
    lock.extend(lock.acquire(0))
    time.sleep(3.0)
    me.note("A goes on")


def _tell_twice(me: Any, p: Any) -> None:
    me.lock(SafeLock(me.redis(), "stock", 2.0)).acquire(0)
    time.sleep(1.0)
    for _ in range(2):
        me.lost("stock", "expired")


LATE = Story(name="late", claim="A renews what it has released.", actors={"A": _renew_after_release})
MUTE = Story(name="mute", claim="A renews once and is never told of the end.", actors={"A": _renew_and_look_away})
TWICE = Story(name="twice", claim="A is told twice.", actors={"A": _tell_twice})
DEADLOCK = Story(name="deadlock", claim="A waits for what nobody will do.", actors={"A": _wait_for_ever})
NOBODY = Story(name="nobody", claim="A looks at the lock and leaves it alone.", actors={"A": _just_look})

GOLDEN = {
    "contended-good": Golden(of("ttl-dilemma", work=1), True),
    "contended-unknown": Golden(of("ttl-dilemma", until=0.4, work=1), None),
    "exclusive_grants-good": Golden(of("ttl-dilemma", ttl=2, work=1), True),
    "exclusive_grants-bad": Golden(of("clock-step", ttl=3), False, ("A ok acquire", "B ok acquire")),
    "exclusive_grants-unknown": Golden(of("ttl-dilemma", until=0.4, work=1), None),
    "finishes-good": Golden(of("ttl-dilemma", work=1), True),
    "finishes-bad": Golden(lambda: play(DEADLOCK), False, ("A note A",)),
    "finishes-unknown": Golden(of("ttl-dilemma", until=0.4), None, ("A note A", "B note B")),
    "honest-good": Golden(of("lost-release", lock="safe", ttl=6), True),
    "honest-bad": Golden(of("lost-grant"), False, ("A invoke acquire", "redis apply SET", "redis expire stock")),
    "honest-bad-release": Golden(
        of("lost-release"), False, ("A invoke release", "redis apply SET", "redis apply EVAL")
    ),
    "honest-unknown": Golden(lambda: play(NOBODY), None),
    "no_lost_update-good": Golden(of("gc-pause", pause=0), True),
    "no_lost_update-good-reader": Golden(of("oversell", lock="safe"), True),
    "no_lost_update-bad": Golden(of("oversell"), False, ("B invoke read", "A invoke write", "B invoke write")),
    "no_lost_update-unknown": Golden(of("done-twice", effect="mail", ttl=4, pause=5), None),
    "no_stale_write-good": Golden(of("gc-pause", pause=0), True),
    "no_stale_write-bad": Golden(
        of("gc-pause", ttl=2, pause=5), False, ("A invoke write", "redis apply SET", "redis apply SET")
    ),
    "no_stale_write-unknown": Golden(of("ttl-dilemma", work=1), None),
    "not_stuck-good": Golden(of("crash-between", lock="safe", ttl=2, crash=5), True),
    "not_stuck-bad": Golden(of("crash-between", until=2), False, ("redis apply SETNX",)),
    "not_stuck-unknown": Golden(of("ttl-dilemma", until=0.4), None),
    "one_believer-good": Golden(of("gc-pause", pause=0), True),
    "one_believer-bad": Golden(of("gc-pause", ttl=2, pause=5), False, ("A ok acquire", "B ok acquire")),
    "one_believer-unknown": Golden(of("ttl-dilemma", until=0.4), None),
    "once-good": Golden(of("increment", effect="charge"), True),
    "once-bad": Golden(
        lambda: play("increment", tape="crash.A.4=1", effect="charge"), False, ("A invoke do", "B invoke do")
    ),
    "once-unknown": Golden(of("ttl-dilemma", until=0.4), None),
    "own_renewal-good": Golden(of("slow-renewal"), True),
    "own_renewal-bad": Golden(
        of("slow-renewal", lock="renew-by-name"), False, ("A invoke extend", "redis apply PEXPIRE")
    ),
    "own_renewal-bad-nobody": Golden(
        of("slow-renewal", lock="renew-after-unlock", by=0.22), False, ("A invoke extend", "redis apply SET")
    ),
    "own_renewal-bad-released": Golden(lambda: play(LATE), False, ("A invoke release", "A invoke extend")),
    "own_renewal-unknown": Golden(of("ttl-dilemma", until=0.4), None),
    "told-good": Golden(of("flushed-key", work=25), True),
    "told-bad": Golden(lambda: play(MUTE), False, ("A ok acquire",)),
    "told-bad-twice": Golden(lambda: play(TWICE), False, ("A lost stock", "A lost stock")),
    "told-unknown": Golden(of("ttl-dilemma", until=0.4), None),
    "own_release-good": Golden(of("late-release", lock="safe", ttl=2, work=3), True),
    "own_release-bad": Golden(
        of("late-release", ttl=2, work=3), False, ("A invoke release", "redis apply DEL", "redis apply SET")
    ),
    "own_release-bad-value": Golden(
        of("shared-id"), False, ("A invoke release", "redis apply EVALSHA", "redis apply SET")
    ),
    "own_release-unknown": Golden(of("ttl-dilemma", until=0.4), None),
}


def text(golden: Golden) -> str:
    """The run as JSON, without the line numbers of its notes: they change with every edit of a story."""
    return re.sub(r"(\.py):\d+", r"\1", golden.play().to_json())


def main() -> None:
    texts = {name: text(golden) for name, golden in GOLDEN.items()}
    for old in FOLDER.glob("*.json"):
        old.unlink()
    for name, content in texts.items():
        (FOLDER / f"{name}.json").write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
