"""The ways in which a world stops early. Each message is a sentence that names the client, the line and the remedy."""

from __future__ import annotations

from typing import Any


class WorldError(RuntimeError):
    """A world could not be played to its end. `timeline` is what had happened by then (None before the start)."""

    timeline: Any = None


class RanAway(WorldError):
    """Too many events, or time no longer moves: a loop that never waits."""


class Stuck(WorldError):
    """Code of a client blocks real time: a pure loop, a real lock, a real sleep or a real socket."""


class ClientDied(WorldError):
    """A client's code ended with an exception that it did not handle; that exception is the cause of this one."""


class WorldClosed(BaseException):
    """Raised inside what is left of a client once its world is closed: nothing it does counts any more.

    A BaseException, so that no `except Exception` of a client mistakes it for an error of Redis.
    """


class Interrupted(BaseException):
    """Raised inside a client that blocks real time, to get it off the processor."""
