"""Redlock: a lock on a majority of independent servers, by the book of its reference and of its errata.

It guarantees what clocks and memories allow: a grant holds on more than half of all nodes, under a value of its own,
and says until when, by the holder's monotonic clock; whatever a failed attempt may have left is taken back from all,
the silent ones included. It goes on while a minority of nodes is down. It does not survive a node that forgets its
keys, or whose wall clock jumps, where the majority was a bare one; nor does it stop a paused holder's late write.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from redis.exceptions import NoScriptError

from . import waiting
from .lease import RECEIPT_MS, Lease, LeaseLost, check_name, check_timeout, check_ttl, drift, receipt, token_of
from .nodes import Command, Lines, Nodes, plain, script
from .round import NodeAnswer, Round, loss, mistake, still_ours, taken


class TooManyExtensions(Exception):
    """This grant has been extended as often as it may be. It holds until its deadline."""


@dataclass(frozen=True, slots=True)
class Grant(Lease):
    """A lease, and how often it has been extended so far."""

    extensions: int = 0


class Redlock:
    """A lock called `name` on the servers of `clients` (an odd number of redis.Redis, masters without replicas to fail
    over to; or `Nodes`, whose connections many locks then share). One server is allowed and is SafeLock at more cost.

    ttl: seconds until the servers take it back.  poll: seconds between two tries, at first.  budget: seconds that a
    round may take, connecting included (a fiftieth of `ttl`: redis.io asks for less, redsync grants a twentieth); one
    silent node makes a round that long.  max_extensions: how often a grant may be extended, counted along its leases
    (None: without end).  on_round: called with each `Round`, as it ends.  even: an even number of nodes is meant.
    Raises ValueError, before any I/O, for what cannot work. What the clients say of time-outs and retries counts for
    nothing here. One object may serve many threads, and forked processes."""

    def __init__(
        self,
        clients: Iterable[Any] | Nodes,
        name: str,
        ttl: float = 10.0,
        poll: float = 0.1,
        *,
        budget: float | None = None,
        max_extensions: int | None = None,
        on_round: Callable[[Round], object] | None = None,
        even: bool = False,
    ) -> None:
        self.name, self.ttl, self.poll = check_name(name), check_ttl(ttl), check_ttl(poll, "poll")
        self.budget = check_ttl(max(ttl / 50, 0.001) if budget is None else budget, "budget")
        if self.budget >= self.ttl - drift(self.ttl):
            raise ValueError(f"budget={budget!r} leaves nothing of ttl={ttl:g} s: a round must be over well before.")
        if max_extensions is not None and (not isinstance(max_extensions, int) or max_extensions < 0):
            raise ValueError(f"max_extensions={max_extensions!r}: give a number from 0 on, or None for no limit.")
        self.nodes = clients if isinstance(clients, Nodes) else Nodes(clients, even)
        self.max_extensions, self.on_round = max_extensions, on_round
        self._ms = round(self.ttl * 1000)

    def attempt(self) -> Round:
        """One try, one round; a refused one has been undone when it returns. Raises no error of a node, unless so many
        answer with one that no majority is left: then something is set up wrongly."""
        token, start = self._new_token(), time.monotonic()
        with self.nodes.lines() as lines:
            try:
                tried = self._judged("acquire", self._claim(lines, token, start + self.budget), start, token)
            except BaseException:
                self._undo(lines, token, range(len(self.nodes)))
                raise
            if not tried.granted:
                self._undo(lines, token, [n for n, node in enumerate(tried.nodes) if node.sent])
        wrong = mistake(tried.nodes, self.nodes.majority)
        if wrong is not None:
            raise wrong
        return tried

    def try_acquire(self) -> Lease | None:
        """One try: see `attempt`."""
        return self.attempt().lease

    def acquire(self, timeout: float | None = None) -> Lease | None:
        """Tries until it has the lock or `timeout` seconds have passed (0: one try, None: for ever). Between two tries
        it rests for longer than the last one took, by a random time that doubles thrice: so rivals who have split the
        votes do not meet again."""
        timeout = check_timeout(timeout)
        began, span = time.monotonic(), self.poll
        while True:
            start = time.monotonic()
            lease = self.try_acquire()
            now = time.monotonic()
            pause = now - start + random.uniform(0.0, span)
            if timeout is not None:
                pause = min(pause, began + timeout - now)
            if lease is not None or pause <= 0:
                return lease
            time.sleep(pause)
            span = min(span * 2, self.poll * 8)

    def extend(self, lease: Lease) -> Lease:
        """A full TTL from now on, under the same token. Raises LeaseLost if too many nodes have it no more, and takes
        back the rest; TooManyExtensions; and the error of a silent node if that one could have tipped the scales."""
        token, start = token_of(lease, self.name), time.monotonic()
        extensions = getattr(lease, "extensions", 0)
        if self.max_extensions is not None and extensions >= self.max_extensions:
            raise TooManyExtensions(
                f"The lease on {self.name!r} was to be extended {self.max_extensions} times at most."
            )
        with self.nodes.lines() as lines:
            lines.settle()
            answers = self._run(lines, script("extend", self.name, token, self._ms), start + self.budget)
            done = self._judged("extend", answers, start)
            lost = loss(done) or (LeaseLost("expired", self.name) if done.validity <= 0 else None)
            if isinstance(lost, LeaseLost):
                self._undo(lines, token, range(len(self.nodes)))
        if lost is not None:
            raise lost
        return Grant(self.name, token, lease.fence, start + self.ttl - drift(self.ttl), extensions + 1)

    def release(self, lease: Lease) -> None:
        """Gives the lock back, on all nodes. Raises LeaseLost if so many had it no more that exclusion did not last to
        the end, and the error of a silent node if that cannot be known."""
        token, start = token_of(lease, self.name), time.monotonic()
        unlock = self._unlock(token)
        with self.nodes.lines() as lines:
            lines.settle(farewell=unlock)
            answers = self._run(lines, unlock, start + self.budget)
            done = self._judged("release", answers, start)
        lost = loss(done)
        if lost is not None:
            raise lost

    hold = waiting.hold

    # -- the small steps ---------------------------------------------------------------------------------------

    def _claim(self, lines: Lines, token: str, end: float) -> list[NodeAnswer]:
        lines.settle()
        return lines.ask(plain("SET", self.name, token, "NX", "PX", self._ms), taken, end)

    def _judged(self, what: str, nodes: list[NodeAnswer], start: float, token: str | None = None) -> Round:
        """The verdict; the clock is read after all else."""
        votes = sum(node.vote == "yes" for node in nodes)
        slack, needed = drift(self.ttl), self.nodes.majority
        elapsed = time.monotonic() - start
        validity = self.ttl - elapsed - slack
        granted = votes >= needed and validity > 0
        lease = Grant(self.name, token, None, start + self.ttl - slack) if granted and token else None
        found = Round(what, self.name, tuple(nodes), needed, self.ttl, elapsed, slack, validity, granted, lease)
        if self.on_round is not None:
            self.on_round(found)
        return found

    def _run(self, lines: Lines, command: Command, end: float) -> list[NodeAnswer]:
        """Runs a script on all nodes; those that have flushed theirs are sent it anew."""
        answers = lines.ask(command, still_ours, end)
        which = [n for n, node in enumerate(answers) if isinstance(node.error, NoScriptError)]
        if which:
            for n, node in zip(which, lines.ask(command, still_ours, end, which), strict=True):
                answers[n] = node
        return answers

    def _undo(self, lines: Lines, token: str, which: Iterable[int]) -> None:
        """Takes back what an attempt may have left. It follows on the same connections, so that it arrives behind a
        request that is still under way; only who has answered before is waited for."""
        start = time.monotonic()
        with suppress(Exception):  # an error that is under way is not to be hidden
            answers = lines.ask(self._unlock(token), still_ours, start + self.budget, which)
            self._judged("undo", answers, start)

    def _unlock(self, token: str) -> Command:
        return script("release", self.name, receipt(self.name, token), token, RECEIPT_MS)

    def _new_token(self) -> str:
        return os.urandom(16).hex()
