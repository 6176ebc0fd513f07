"""OwnerlessRegister: tokens are compared, owners are not.

It fails where two holders carry one token, as after a failover that has forgotten an INCR (E22): both register as 7,
both read 0, both write 1.
"""

from __future__ import annotations

from ..fenced import FencedRegister
from ..holder import Grant, pair

CAUGHT_BY = "no_lost_update"


class OwnerlessRegister(FencedRegister):
    """As FencedRegister, but every holder goes by the same name."""

    def _pair(self, lease: Grant) -> tuple[int, str]:
        return pair(lease)[0], "anybody"
