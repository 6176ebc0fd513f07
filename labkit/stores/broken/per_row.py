"""PerRowRegister: each row has a guard of its own, though one lock protects them all (E78).

It fails where holders do not touch all rows: B has registered at the order; A, late, writes the items of that order,
whose own guard has never heard of B.
"""

from __future__ import annotations

from typing import Any

from ..fenced import FencedRegister

CAUGHT_BY = "no_stale_write"


class PerRowRegister(FencedRegister):
    """As FencedRegister, but `guard` is not looked at."""

    def __init__(self, client: Any, name: str, guard: str | None = None) -> None:
        super().__init__(client, name)
