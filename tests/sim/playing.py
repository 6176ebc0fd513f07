"""How the tests play: a few functions as the code of clients A, B, C …, a few faults, one timeline."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

from redis.backoff import NoBackoff
from redis.retry import Retry

from labkit.sim import World
from labkit.timeline import Timeline

Code = Callable[[Any], Any]
ONCE = Retry(NoBackoff(), 0)


def play(
    *codes: Code,
    faults: Iterable[Any] = (),
    servers: tuple[str, ...] = ("redis",),
    until: float = 100.0,
    **world: Any,
) -> Timeline:
    """Plays the codes as clients A, B, C … and returns what happened."""
    with World(**world) as stage:
        for server in servers:
            stage.server(server)
        for name, code in zip("ABCDEFG", codes, strict=False):
            stage.client(name).start(code)
        for fault in faults:
            stage.arm(fault)
        return stage.run(until=until)


def result(code: Code, **options: Any) -> Any:
    """What the code of client A returns."""
    found = []
    play(lambda me: found.append(code(me)), **options)
    return found[0]


def notes(timeline: Timeline) -> list[str]:
    return [event.name for event in timeline.find("note")]


def commands(timeline: Timeline, kind: str = "apply") -> list[str]:
    return [event.name for event in timeline.find(kind)]


def started(work: Callable[[], Any], **options: Any) -> threading.Thread:
    """A thread that does some work, already under way."""
    thread = threading.Thread(target=work, **options)
    thread.start()
    return thread


def at() -> float:
    """Seconds since the start of the run, by the caller's monotonic clock."""
    return round(time.monotonic() - 1000, 6)
