"""A clock that a notebook shows while somebody thinks: a callback of the kernel's own event loop, once a second.

No thread and no cell that runs, so the kernel is free for other cells; while one of them runs, the display is late and
the time is right all the same. It stops when it is told to, or when its widget is closed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import ipywidgets as widgets

from ..interview.words import minutes

Later = Callable[[float, Callable[[], None]], Any]


def soon(seconds: float, act: Callable[[], None]) -> None:
    """Calls `act` in so many seconds, when the kernel has time; without a running event loop, never."""
    try:
        asyncio.get_running_loop().call_later(seconds, act)
    except RuntimeError:
        return


class Timer(widgets.HTML):  # type: ignore[misc]  # ipywidgets has no types
    """Shows how long an answer has taken so far, until it is stopped. after: what stands behind the time."""

    def __init__(self, clock: Callable[[], float], later: Later, after: str) -> None:
        super().__init__()
        self._clock, self._later, self._after, self._start, self._runs = clock, later, after, clock(), True
        self._tick()

    def _tick(self) -> None:
        if self._runs and self.comm is not None:  # a closed widget has none
            self.value = f'<b style="font-variant-numeric:tabular-nums">{minutes(self.seconds)}</b> {self._after}'
            self._later(1.0, self._tick)

    @property
    def seconds(self) -> float:
        """Since it was made."""
        return self._clock() - self._start

    def stop(self) -> float:
        """The seconds; the display stands still from now on."""
        self._runs = False
        return self.seconds
