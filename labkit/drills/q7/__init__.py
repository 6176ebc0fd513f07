"""Question 7: work that is resumed, and the `Progress` that its exercise is given."""

from __future__ import annotations

from typing import NamedTuple

from ...locks import Lease

__all__ = ["Progress"]


class Progress(NamedTuple):
    """How far a task is. epoch: of whoever works on it.  step: how many steps are finished.  data: what the next step
    needs to know.  lease: the grant of the task's lock."""

    task: str
    worker: str
    epoch: int
    step: int
    data: str
    lease: Lease
