"""Section six of the article: what the two sides of the debate on Redlock said. A run decides what follows from what;
for what somebody wrote see his post.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations, pairwise, product
from typing import Any

from ..checks import judge
from ..locks import FencedLock, Redlock
from ..sim import World
from ..stores import FencedRegister
from ..stores.holder import Grant
from ..stories import play
from ..stories.redlock import FIVE
from ..stories.topology import SETUPS
from ..wording import listed
from .erratum import Erratum, Run, Shown, compared, played
from .five import answered, together
from .telling import played_and

KLEPPMANN = "M. Kleppmann, «How to do distributed locking», 8 February 2016"
ANTIREZ = "S. Sanfilippo, «Is Redlock safe?», 9 February 2016"
NOTEBOOK = "notebook 06"
CLOCKS = "notebook 05, “7 · A node forgets, a clock jumps”"


# -- argument two: whose problem a pause is ----------------------------------------------------------------------------


def only_a_quorums() -> Shown:
    """Whether a pause after the grant hits Redlock and leaves a lock on one server, or on a pair, alone."""
    runs = {on: judge(play("topology", on=on, mishap="holder-pauses"), "one_believer") for on in SETUPS}
    hit = [on for on, said in runs.items() if said.holds is False]
    nodes = {
        "one": "one server",
        "pair": "a server with a replica",
        "five": "five nodes",
        "bare": "a bare three of five",
    }
    why = f"A stands still for 15 s under a lock on {listed(tuple(nodes[on] for on in hit))}: two believe in each."
    return Shown(not {"one", "pair"} & set(hit), why, runs["one"].token)


# -- a number for each grant -------------------------------------------------------------------------------------------

GRANTS = 10
Order = Callable[[Any], Any]  # a lease -> what a store would have to compare


def in_turn(make: Callable[[Any], Any], order: Order) -> Sequence[Any]:
    """What ten grants have to show to a store, given one after the other by servers that all work."""
    shown = list[Any]()

    def one_after_the_other(me: Any) -> None:
        lock = make(me)
        for _ in range(GRANTS):
            lease = lock.try_acquire()
            shown.append(order(lease))
            lock.release(lease)
            time.sleep(0.1)

    with World() as world:
        for name in FIVE:
            world.server(name)
        world.client("A").start(one_after_the_other)
        world.run()
    return shown


def ordered(what: str, make: Callable[[Any], Any], order: Order) -> Shown:
    """Whether of ten grants each later one shows more than the one before."""
    shown = in_turn(make, order)
    if len(shown) != GRANTS:
        return Shown(None, f"The client came to its end after {len(shown)} of {GRANTS} grants.")
    up = sum(before < after for before, after in pairwise(shown))
    why = f"Of {GRANTS} grants, one after the other, {up} of {GRANTS - 1} {what} are above the one before."
    return compared(up == GRANTS - 1, why)


def a_counter_on_each() -> Shown:
    """Whether the highest of three counters numbers grants, whichever three of the five are reached. All ways in which
    four grants can come are counted."""
    ways = list(product(combinations(FIVE, 3), repeat=4))
    numbered = [_numbers(way) for way in ways]
    twice = sum(len(set(numbers)) < len(numbers) for numbers in numbered)
    back = sum(any(after < before for before, after in pairwise(numbers)) for numbers in numbered)
    why = f"Of {len(ways)} ways in which four grants can reach three nodes, {twice} repeat a number and {back} go back."
    return compared(not twice and not back, why)


def _numbers(way: Sequence[Sequence[str]]) -> list[int]:
    counters, numbers = dict.fromkeys(FIVE, 0), []
    for reached in way:
        for name in reached:
            counters[name] += 1
        numbers.append(max(counters[name] for name in reached))
    return numbers


def redlock_on_five(me: Any) -> Any:
    return Redlock([me.redis(name) for name in FIVE], "stock")


def fenced_on_one(me: Any) -> Any:
    return FencedLock(me.redis(FIVE[0]), "stock")


RANDOM = partial(ordered, "random values", redlock_on_five, lambda lease: lease.token)
MINTED = partial(ordered, "fencing tokens", fenced_on_one, lambda lease: lease.fence)


# -- a claim without an order ------------------------------------------------------------------------------------------


class ClaimedRegister(FencedRegister):
    """A register whose latest claimant alone may write. Claims are random values: they tell holders apart, not which of
    them is newer, so a holder that comes late evicts the one that is there."""

    def register(self, lease: Grant) -> bool:
        self.client.hset(self.guard, mapping=dict(zip(("fence", "owner"), self._pair(lease), strict=True)))
        return True

    def _pair(self, lease: Grant) -> tuple[int, str]:
        return 0, lease.token


# -- the clocks of reply one -------------------------------------------------------------------------------------------

NODE, REPLICA, MACHINE = "A node's clock jumps by 15 s", "A replica's clock is ahead", "A's machine is suspended"
SLEWED: dict[str, Any] = {"lock": "redlock", "by": 0.0, "step": 0.0, "at": 9.2, "work": 9.5}


def grants(story: str, **params: Any) -> Run:
    return played(story, "exclusive_grants", **params)


def writes(story: str, **params: Any) -> Run:
    return played(story, "no_stale_write", **params)


ERRATA = [
    Erratum(
        number="E40",
        grade=2,
        section="6.1, argument 2",
        claim="That a paused holder writes late is what is wrong with Redlock.",
        truth="It is so with every lease. Redlock's own case is a pause while the answers are in flight; it is "
        "caught, for the clock is read again after them.",
        where=NOTEBOOK,
        wrong=only_a_quorums,
        right=played_and("quorum-pause", "one_believer", answered, at=0.3, pause=11.5),
        source=f"{KLEPPMANN}; {ANTIREZ}.",
    ),
    Erratum(
        number="E41",
        grade=2,
        section="6.1, argument 3",
        claim="For correctness take fencing tokens, or consensus.",
        truth="He says both: consensus, so that the lock and its count are not forgotten, and a token with each "
        "access, because the best lock is a lease as well.",
        where=NOTEBOOK,
        wrong=together(
            ("A lock that forgets nothing, no token", writes("late-write", store="unchecked")),
            ("Tokens, a lock that fails over", played("repeated-token", "no_lost_update", store="ownerless")),
        ),
        right=writes("late-write", store="contract"),
        source=f"{KLEPPMANN}, at its end. Consensus is stood for here by one server that does not fail.",
    ),
    Erratum(
        number="E42",
        grade=2,
        section="6.1",
        claim="Nothing: that Redlock has no means of making tokens is left out.",
        truth="Its values are random and have no order; one node's counter can be lost, and five drift apart. Tokens "
        "come from a service that keeps its count.",
        where=NOTEBOOK,
        wrong=together(("Redlock's values", RANDOM), ("A counter on each node", a_counter_on_each)),
        right=MINTED,
        source=f"{KLEPPMANN}.",
    ),
    Erratum(
        number="E43",
        grade=3,
        section="6.2, reply 1",
        claim="Against clocks that jump, let expiry be decided by a monotonic clock.",
        truth="Not yours to choose: keys expire by their server's wall clock. Slew it, watch it, ask for all five "
        "votes; and measure by a clock that runs on while a machine is suspended.",
        where=CLOCKS,
        wrong=together(
            (NODE, grants("node-clock", reached=3)),
            (REPLICA, grants("skewed-replica")),
            (MACHINE, writes("suspended-holder", clock="CLOCK_MONOTONIC")),
        ),
        right=together(
            (f"{NODE}, A has all five votes", grants("node-clock", reached=5)),
            ("All five are slewed by one per cent", grants("slow-node", rate=1.01, **SLEWED)),
            ("The replica's clock is right", grants("skewed-replica", ahead=0.0)),
            (f"{MACHINE}, its clock goes on", writes("suspended-holder", clock="CLOCK_BOOTTIME")),
        ),
        source="Redis' source: expiry is an absolute time of gettimeofday, and is replicated so; its pages on "
        f"EXPIRE and on distributed locks warn of it. {ANTIREZ}: he agreed that a monotonic clock would be better.",
    ),
    Erratum(
        number="E44",
        grade=3,
        section="6.2, reply 2",
        claim="He would have pauses dealt with in the application, by fencing tokens or by watching the time.",
        truth="He disputes tokens: a store that can compare needs no order, a random claim with check-and-set will "
        "do. Watching the time does not help against what comes after the look; he grants that.",
        where=NOTEBOOK,
        wrong=played("slow-write", "no_lost_update", store="unchecked"),
        right=played("slow-write", "no_lost_update", store=ClaimedRegister),
        source=f"{ANTIREZ}. Whether a store that can compare leaves a strong lock any purpose is still disputed.",
    ),
    Erratum(
        number="E45",
        grade=3,
        section="6.2, reply 3",
        claim="Practice proves it: Sentinel and Cluster are in wide use, and so Redlock has done well.",
        truth="He does not say so, but asks for review and tests. It would prove nothing: Redlock uses neither; a "
        "promoted replica is what it avoids.",
        where=NOTEBOOK,
        wrong=grants("topology", on="pair", mishap="dies"),
        right=grants("topology", on="five", mishap="dies"),
        source=f"{ANTIREZ}: there is no such argument in it.",
    ),
    Erratum(
        number="E46",
        grade=1,
        section="6.2, reply 1",
        claim="Redlock is safe as long as no clock jumps.",
        truth="The rates must agree as well, to within the drift that is taken off; the time of day need not. With "
        "pauses and delays that are bounded too, this is a synchronous model.",
        where=CLOCKS,
        wrong=grants("slow-node", rate=1.1, **SLEWED),
        right=grants("slow-node", rate=1.01, **SLEWED),
        source=f"{ANTIREZ}, who speaks of a rate that may be off by ten per cent; {KLEPPMANN}.",
    ),
]
