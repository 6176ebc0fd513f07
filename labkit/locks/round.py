"""What a round of a quorum was like, as a value: what each node did, how long it took, and what follows from it.

Three answers are told apart: yes, no, and unknown, for a command without an answer may have been executed, or will be.
Printed, a round is a small table. It talks to no server and decides nothing; `redlock` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from redis.exceptions import AuthenticationError, ResponseError

from .lease import Lease, LeaseLost, Misuse

Vote = Literal["yes", "no", "unknown"]


@dataclass(frozen=True, slots=True)
class NodeAnswer:
    """What one node did. sent: the command has left for it.  answered: its answer came in time.  elapsed: seconds from
    the start until the answer was read, or given up.  said: why the vote is what it is.  error: what went wrong."""

    node: str
    sent: bool
    answered: bool
    vote: Vote
    elapsed: float
    said: str
    error: Exception | None = field(default=None, repr=False, compare=False)

    def row(self, width: int) -> str:
        when = f"{self.elapsed * 1000:8.1f} ms" if self.sent else "   not sent"
        return f"  {self.node:<{width}}  {self.vote:<7} {when}  {self.said}"


@dataclass(frozen=True, slots=True)
class Round:
    """what: "acquire", "extend", "release", or "undo" after a refusal.  needed: yes votes for a majority of all nodes.
    elapsed, drift, validity: seconds; validity is what the other two leave of `ttl`.  granted: enough votes and
    validity above 0.  lease: what an "acquire" has granted."""

    what: str
    name: str
    nodes: tuple[NodeAnswer, ...]
    needed: int
    ttl: float
    elapsed: float
    drift: float
    validity: float
    granted: bool
    lease: Lease | None = None

    def count(self, vote: Vote) -> int:
        """How many nodes voted so."""
        return sum(node.vote == vote for node in self.nodes)

    def __str__(self) -> str:
        votes = f"{self.count('yes')} yes, {self.count('no')} no, {self.count('unknown')} unknown; {self.needed} needed"
        width = max((len(node.node) for node in self.nodes), default=0)
        sums = f"ttl {self.ttl:.3f} s − elapsed {self.elapsed:.3f} s − drift {self.drift:.3f} s"
        head = f"{self.what} {self.name}: {'granted' if self.granted else 'refused'} ({votes})"
        return "\n".join(
            [head, *(node.row(width) for node in self.nodes), f"  {sums} = validity {self.validity:.3f} s"]
        )


def loss(done: Round) -> Exception | None:
    """What a holder is to be told after an extension or a release; None if a majority still had the lock. LeaseLost if
    the silent nodes could not have made it one, else the error of one that could."""
    if done.count("yes") >= done.needed:
        return None
    if done.count("yes") + done.count("unknown") >= done.needed:
        error = next(node.error for node in done.nodes if node.error)
        return Misuse(f"The key {done.name!r} holds something that is no lock.") if "WRONGTYPE" in str(error) else error
    said = [node.said for node in done.nodes]
    by_majority = [reason for reason in ("stolen", "expired") if said.count(reason) >= done.needed]
    return LeaseLost(by_majority[0] if by_majority else "lost", done.name)


def mistake(nodes: Sequence[NodeAnswer], needed: int) -> Exception | None:
    """The error with which so many nodes answer that no majority is left: no fault of the moment, but something that
    is set up wrongly, such as a user's rights."""
    errors = [node.error for node in nodes if isinstance(node.error, (ResponseError, AuthenticationError))]
    return errors[0] if len(nodes) - len(errors) < needed else None


def taken(reply: object) -> tuple[Vote, str]:
    """What a reply to SET NX is worth."""
    if isinstance(reply, ResponseError):
        return "no", str(reply)
    return ("no", "held by another") if reply is None else ("yes", "OK")


def still_ours(reply: object) -> tuple[Vote, str]:
    """What a reply of our scripts is worth: a pair, see `extend.lua` and `release.lua`."""
    if not isinstance(reply, list):
        return "unknown", str(reply)
    happened, others = reply
    return ("yes", "ours") if happened else ("no", "stolen" if others else "expired")
