"""OneValueRedlock: one value for all attempts instead of a fresh one for each (erratum E35).

The clean-up after a failed attempt is still under way when the next attempt succeeds, and cannot tell the two apart: it
takes a vote from a grant that is valid. It fails where an unlock is late and the retry reaches that node over another
connection. Libraries that draw the value before their loop of retries are open to this.
"""

from __future__ import annotations

from typing import Any

from ..redlock import Redlock

CAUGHT_BY = "exclusive_grants"


class OneValueRedlock(Redlock):
    """As Redlock, but its value is drawn when it is made."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.value = super()._new_token()

    def _new_token(self) -> str:
        return self.value
