"""What a grant is, and the ways in which holding one ends.

A lock with a time to live is a lease: the service takes it back by itself, so holding is only what the client
believes. A `Lease` says until when the belief is safe, on the holder's own monotonic clock, counted from before the
request left and less the drift that two clocks may show. Nothing here talks to a server.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import StrEnum

LONGEST = 10**12  # seconds; as milliseconds since 1970 it still fits into the 63 bits of a server

RECEIPT_MS = 60_000  # a lost reply is asked for again within a minute; what comes later is told that the lease is lost


class Outcome(StrEnum):
    """How an attempt to use a lease went. UNKNOWN: the reply was lost, so it may have happened; it is never returned,
    the client's own ConnectionError or TimeoutError stands for it."""

    OK = "ok"
    EXPIRED = "expired"
    STOLEN = "stolen"
    UNKNOWN = "unknown"


class NotAcquired(Exception):
    """The lock could not be had in the time given."""


class LeaseLost(Exception):
    """The lock is not yours any more, and you cannot know since when. `reason`: "expired", nobody holds it now, or
    "stolen", somebody else does, or "lost" where a lock cannot tell which."""

    def __init__(self, reason: str, name: str = "") -> None:
        whose = {"expired": "is not on the server any more", "stolen": "is over: somebody else holds the lock now"}
        whose["lost"] = "is not yours any more"
        super().__init__(f"The lease on {name!r} {whose.get(reason, reason)}; what it protected may have been touched.")
        self.reason = reason
        self.name = name


class Misuse(Exception):
    """A call that can never be right: a lease of another lock, or a key that holds something other than a lock."""


@dataclass(frozen=True, slots=True)
class Lease:
    """A grant. name: the lock's key.  token: the value that proves ownership, new for each acquisition.
    fence: a number that grows with each grant, or None.  deadline: a moment of `time.monotonic()`, in seconds;
    infinite where no clock can tell the end, but only the service, as with ZooKeeper's sessions."""

    name: str
    token: str
    fence: int | None
    deadline: float

    def remaining(self) -> float:
        """Seconds until the deadline; 0.0 once it has passed."""
        return max(0.0, self.deadline - time.monotonic())


def drift(ttl: float) -> float:
    """What two clocks may differ by over `ttl` seconds: one per cent, and 2 ms for the resolution of expiries.
    Source: the reference implementation of Redlock, redlock-rb."""
    return 0.01 * ttl + 0.002


def check_ttl(ttl: float, what: str = "ttl") -> float:
    """A span in seconds that Redis can count. Raises ValueError for what is no number, less than one millisecond, or
    beyond the years that a server can date; for a TTL also what the drift of two clocks eats up."""
    least = 0.003 if what == "ttl" else 0.001
    if isinstance(ttl, bool) or not isinstance(ttl, (int, float)) or not least <= ttl <= LONGEST:
        raise ValueError(f"{what}={ttl!r} is no span of time: give seconds, from {least} to {LONGEST}.")
    return float(ttl)


def check_timeout(timeout: float | None) -> float | None:
    """How long to wait, in seconds: 0 for one try, None for ever. Raises ValueError for anything else."""
    if timeout is None:
        return None
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not timeout >= 0:
        raise ValueError(f"timeout={timeout!r} is not a time to wait: give seconds, 0 for one try, None for ever.")
    return float(timeout)


def check_name(name: str) -> str:
    """A key. Raises ValueError for what is no text or empty."""
    if not isinstance(name, str) or not name:
        raise ValueError(f"name={name!r} is not a lock's name: give a text that is not empty.")
    return name


def token_of(lease: Lease, name: str) -> str:
    """The token of a lease of the lock `name`. Raises Misuse for whatever is not one."""
    if not isinstance(lease, Lease) or lease.name != name or not isinstance(lease.token, str):
        raise Misuse(f"The lock {name!r} wants a lease that it has granted, not {lease!r}.")
    return lease.token


def receipt(name: str, token: str) -> str:
    """The key of a grant's receipt, in the lock's own slot of a cluster: by the braces of its name, if it has some,
    else by braces around it."""
    return f"{name if '{' in name else '{' + name + '}'}:released:{token}"


def as_text(reply: bytes | str | None) -> str | None:
    """A reply as text, whether or not the client decodes; a value that is no UTF-8 is still somebody's."""
    return reply.decode("utf-8", "backslashreplace") if isinstance(reply, bytes) else reply
