"""Question two of the article: node 3 times out, what now?"""

from __future__ import annotations

import time
from contextlib import suppress

from redis.exceptions import RedisError

from ..locks import Lease, Redlock
from ..locks.lease import drift
from ..stories import play
from .erratum import Erratum, Shown, compared, played
from .five import answered, nothing_left
from .telling import found_in, played_and

WORTH = "notebook 05, “3 · How long is a grant worth something?”"
SILENCE = "notebook 05, “4 · A time-out is neither a no nor a yes”"
MAJORITY = "notebook 05, “5 · Three votes are enough. Why ask for five?”"


class FailsAtOnceRedlock(Redlock):
    """As Redlock, but it acquires as the article's answer says: node by node, a silent one is no vote, and when three
    votes are out of reach it fails at once. It unlocks nothing then (E69)."""

    def try_acquire(self) -> Lease | None:
        token, start, votes = self._new_token(), time.monotonic(), 0
        for asked, client in enumerate(self.nodes.clients):
            if votes + len(self.nodes) - asked < self.nodes.majority:
                return None
            with suppress(RedisError):
                votes += bool(client.set(self.name, token, nx=True, px=self._ms))
        lease = Lease(self.name, token, None, start + self.ttl - drift(self.ttl))
        return lease if votes >= self.nodes.majority and lease.remaining() else None


# -- two seconds left --------------------------------------------------------------------------------------------------


def in_time(work: float) -> tuple[float, bool, str]:
    """The rest of a lease that took eight seconds of ten to get; whether work of so long ends in it; the run."""
    timeline = play("slow-node", lock="redlock-seed", by=8.0, step=0.0, at=8.5, work=work)
    (belief,) = (b for b in timeline.belief("stock") if b.node == "A")
    deadline = next(e.data["deadline"] for e in timeline.find("ok", "A", "acquire"))
    return deadline - belief.start, belief.end <= deadline, timeline.token


def by_share() -> Shown:
    """Whether no work fits any more once four fifths of the TTL are gone."""
    left, ends, token = in_time(1.0)
    return Shown(not ends, f"After 8 s of 10 there are {left:.3f} s left, and work of 1 s ends in time.", token)


def by_work() -> Shown:
    """Whether the rest of the lease, compared with the work, says rightly if that ends in time."""
    told = [(work, *in_time(work)[:2]) for work in (1.0, 3.0)]
    said = [f"{left:.3f} s left for {work:g} s of work: {'in' if ends else 'out of'} time" for work, left, ends in told]
    return compared(all((left >= work) is ends for work, left, ends in told), "; ".join(said) + ".")


ERRATA = [
    Erratum(
        number="E65",
        grade=2,
        section="8, question 2",
        claim="long deadline = System.currentTimeMillis() + ttlMillis * 0.8;",
        truth="This does not compile: the sum is a double, and a double does not become a long without a cast.",
        where="notebook 05, “What is left open”",
        source="Not run here, for it takes a Java compiler: javac 17 refuses the line, «incompatible types: possible "
        "lossy conversion from double to long».",
    ),
    Erratum(
        number="E66",
        grade=3,
        section="8, question 2",
        claim="Look at the deadline before each request; with three votes the lock is acquired.",
        truth="Look after everything else, and take off the drift: when the last answer is slow, none of the keys "
        "may be there any more.",
        where=WORTH,
        wrong=played_and("set-back", "one_believer", answered, lock="stop-at-majority", node="n3", step=0.0),
        right=played_and("set-back", "one_believer", answered, lock="redlock", node="n3", step=0.0),
    ),
    Erratum(
        number="E67",
        grade=3,
        section="8, question 2",
        claim="Whatever ends the loop, nothing is to be undone; the time-out that was asked about is not caught.",
        truth="The error of one node gets out and leaves locked what was asked before it. Catch it, count it as no "
        "vote, go on; and unlock all nodes if the votes do not suffice.",
        where=SILENCE,
        wrong=found_in("silent-nodes", nothing_left, lock="stop-at-majority", silent=1, request="done"),
        right=found_in("silent-nodes", nothing_left, lock="redlock", silent=1, request="done"),
    ),
    Erratum(
        number="E68",
        grade=3,
        section="8, question 2",
        claim="With three votes stop asking: the lock is acquired.",
        truth="Ask all five. Each vote above three is a restart that the lock survives; who stops at three has none, "
        "and leaves two nodes to others. One may stop waiting early.",
        where=MAJORITY,
        wrong=played("node-forgets", "exclusive_grants", lock="stop-at-majority", forget=1),
        right=played("node-forgets", "exclusive_grants", lock="redlock", forget=1),
        source="Redis documentation, «Distributed Locks with Redis»: all N instances.",
    ),
    Erratum(
        number="E69",
        grade=2,
        section="8, question 2",
        claim="Two failures and a time-out leave two votes at most: fail at once.",
        truth="The sum is right. But «at once» comes after an unlock of all that were asked, for the silent node may "
        "have the key; and failures that are errors are as unknown as the time-out.",
        where=MAJORITY,
        wrong=found_in("hopeless", nothing_left, lock=FailsAtOnceRedlock),
        right=found_in("hopeless", nothing_left, lock="redlock"),
    ),
    Erratum(
        number="E70",
        grade=1,
        section="8, question 2",
        claim="With eight of ten seconds gone, the two that are left mean nothing: give up at 80 %.",
        truth="That depends on the work: compare what is left with what you are about to do.",
        where=WORTH,
        wrong=by_share,
        right=by_work,
    ),
]
