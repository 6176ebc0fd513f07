"""Who writes: the pair of fencing token and owner that a store compares, taken from the lease of whoever writes.

The token orders the holders, the owner tells two holders of one token apart: after a failover a lock service may give
the same number twice.
"""

from __future__ import annotations

from typing import Protocol

HIGHEST = 2**63 - 1  # what a counter in Redis, and a BIGINT in SQL, can hold


class Grant(Protocol):
    """What a store wants of a lease. fence: the number minted with the grant.  token: unique to this holder."""

    @property
    def fence(self) -> int | None: ...

    @property
    def token(self) -> str: ...


def pair(lease: Grant) -> tuple[int, str]:
    """The fencing token and the owner of a lease. Raises ValueError for one that a store cannot put in order."""
    fence, owner = getattr(lease, "fence", None), getattr(lease, "token", None)
    if isinstance(fence, bool) or not isinstance(fence, int) or not 0 < fence <= HIGHEST:
        raise ValueError(f"fence={fence!r} is no fencing token: use a lock that mints one, from 1 to {HIGHEST}.")
    if not isinstance(owner, str) or not owner:
        raise ValueError(f"token={owner!r} names no owner: give the lease itself, whose token is its holder's alone.")
    return fence, owner
