"""The stage for `keep_alive`: a client that holds a lock, the answer in a thread beside its work, and what befalls it.

Everything that counts is an event of the timeline: the call, each attempt, the stop, what `on_lost` was told, the
return. So a judge needs nothing but the timeline, and so does whoever looks at its picture.
"""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from redis.exceptions import RedisError

from ...locks import LeaseLost
from ...sim import Fate, World, WorldClosed, WorldError
from ...timeline import Timeline
from ..given import given, mark
from ..trial import Function, Setting
from ..where import line_of_answer

WORDS = "orders stock invoice mail-run night-batch seats ledger report cache-fill payout".split()


@dataclass(frozen=True)
class Case:
    """One play. name: of the lock.  ttl, interval: seconds.  delay: from the grant to the call.  stop: seconds from the
    call to the stop (None: never).  faults: what befalls it.  thief: when B takes a lock that has gone astray.
    interrupt: what `extend` raises, and at which call."""

    name: str
    ttl: float
    interval: float
    until: float
    delay: float = 0.0
    stop: float | None = None
    faults: tuple[Any, ...] = ()
    thief: float | None = None
    interrupt: tuple[int, type[BaseException]] | None = None


def play(keep_alive: Function, case: Case, setting: Setting) -> tuple[Mapping[str, Any], Timeline]:
    """Plays the case in a world of its own, latencies drawn from the setting's seed. Raises MemoryError if the answer
    ran out of memory."""
    failed: list[MemoryError] = []
    with World(seed=setting.seed, story=setting.token, patience=setting.patience) as world:
        world.server("redis")
        world.client("A").start(owner, keep_alive, case, failed)
        if case.thief is not None:
            world.client("B").start(thief, case)
        for fault in case.faults:
            world.arm(fault)
        try:
            timeline = world.run(until=case.until)
        except WorldError:
            if not failed:
                raise
    if failed:
        raise failed[0]
    return {"ttl": case.ttl, "interval": case.interval}, timeline


def owner(me: Any, keep_alive: Function, case: Case, failed: list[MemoryError]) -> None:
    """Takes the lock, lets the answer keep it alive, and sets `stop` when the work is done. Then it stays for one more
    TTL: what an answer leaves running must show."""
    lock = given(me, case.name, case.ttl, case.interrupt)
    lease = lock.acquire(0)
    time.sleep(case.delay)
    stop = threading.Event()
    if case.stop == 0:
        set_stop(me, stop)
    keeper = threading.Thread(target=guarded, args=(me, keep_alive, lock, lease, case, stop, failed), daemon=True)
    keeper.start()
    if case.stop:
        time.sleep(case.stop)
        set_stop(me, stop)
    keeper.join()
    time.sleep(case.ttl)


def set_stop(me: Any, stop: threading.Event) -> None:
    mark(me, "stop", "A has finished its work and sets stop")
    stop.set()


def guarded(
    me: Any,
    keep_alive: Function,
    lock: Any,
    lease: Any,
    case: Case,
    stop: threading.Event,
    failed: list[MemoryError],
) -> None:
    """Calls the answer, and notes how the call ended."""

    def on_lost(reason: str) -> None:
        text = isinstance(reason, str) and bool(reason.strip())
        given = repr(reason)[:60] if isinstance(reason, str) else f"{reason!r:.60} ({type(reason).__name__})"
        told = {"reason": str(reason)[:200], "grant": me.world.recorder.latest(me.name), "drill": "told"}
        told |= {"text": text, "given": given}
        me.world.emit(me.name, "lost", case.name, told)

    mark(me, "call", "keep_alive is called")
    try:
        keep_alive(lock, lease, case.interval, stop, on_lost)
    except (WorldClosed, GeneratorExit):
        raise
    except MemoryError as error:
        failed.append(error)  # first, for to clear away a million trifles takes longer than the world is patient
        traceback.clear_frames(error.__traceback__)  # what they hold is needed for the rest of the run
    except BaseException as error:
        kind = type(error).__name__
        ours = isinstance(error, (LeaseLost, RedisError))
        about = {"type": kind, "ours": ours, "message": str(error)[:120], "where": line_of_answer(error)}
        mark(me, "raised", f"{kind} gets out of keep_alive", **about)
    else:
        mark(me, "return", "keep_alive returns")


def thief(me: Any, case: Case) -> None:
    assert case.thief is not None
    time.sleep(case.thief)
    given(me, case.name, case.ttl).acquire(case.ttl / 2)


@dataclass(frozen=True)
class Slow:
    """Every request from `at` on takes `by` seconds longer, for `lasting` seconds."""

    at: float
    lasting: float
    by: float

    def arm(self, world: World) -> None:
        end = self.at + self.lasting
        world.rule(lambda p: Fate(after=self.by) if p.direction == "request" and self.at <= world.now < end else None)
