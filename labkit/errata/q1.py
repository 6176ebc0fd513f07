"""Question one of the article: the interval of a renewal."""

from __future__ import annotations

from functools import cache, partial

from ..locks import WatchdogLock
from ..stories import play
from ..stories.redisson import HABITS
from ..stories.shards import expired
from ..timeline import Timeline
from ..wording import listed
from .erratum import Erratum, Shown, compared
from .five import together
from .telling import found_in

EXERCISE = "exercise q1, “{}”; notebook 03, “{}”"


def is_kept(timeline: Timeline) -> bool:
    return not timeline.find("expire", name="stock")


def ran_out(timeline: Timeline) -> float:
    """When the first lease ended, or was due to end if it has been renewed: its TTL is 30 s."""
    return next((event.t for event in timeline.find("expire", name="stock")), 30.0)


def survived(n: int, k: int) -> Shown:
    """Whether a lock that is renewed every TTL / n survives that k renewals in a row get no answer."""
    timeline = play("renewal", n=n, k=k)
    failed = listed(tuple(f"{op.call:g}" for op in timeline.ops("extend")[:k]))
    fate = "the lock is kept" if is_kept(timeline) else f"the lock ran out at t = {ran_out(timeline):.3f} s"
    why = f"TTL 30 s, N = {n}: the renewals at t = {failed} s get no answer; {fate}."
    return Shown(is_kept(timeline), f"{why} {most()}", timeline.token)


@cache
def most() -> str:
    """How many renewals in a row may fail for each N, found by playing."""
    ns = range(2, 6)
    bears = [max(k for k in range(n) if is_kept(play("renewal", n=n, k=k))) for n in ns]
    return f"For N = {listed(tuple(map(str, ns)))} the most that it bears is {listed(tuple(map(str, bears)))}."


def outage(name: str, sends_each: int, timeline: Timeline) -> Shown:
    """Whether the lock outlives that Redis is out of reach from second 5 to 28, and in how many renewals."""
    end = ran_out(timeline)
    sends = [op for op in timeline.ops("extend") if op.call < end]
    renewals = -(-len(sends) // sends_each)
    why = (
        f"Redis is out of reach from second 5 to 28. {name} sends {len(sends)} times from t = {sends[0].call:.1f} s on"
    )
    why += f", the last one over at {sends[-1].ret or timeline.end:.1f} s: {renewals} renewal{'s' * (renewals > 1)}. "
    fate = "The lock is kept." if is_kept(timeline) else f"The lock ran out at t = {end:.3f} s."
    return compared(is_kept(timeline), why + fate)


def redisson(generation: str) -> Shown:
    """The same, under the habit of a generation of Redisson: one renewal is several sends."""
    timeline = play("black-hole", generation=generation)
    shown = outage(f"Redisson {generation}", len(HABITS[generation].pauses) + 1, timeline)
    return Shown(shown.holds, shown.why, timeline.token)


def healthy_are_kept(timeline: Timeline) -> Shown:
    """Whether the locks on the shards that work are kept while one shard is down."""
    lost = expired(timeline)
    said = listed(tuple(f"{count} on {shard}" for shard, count in lost.items()))
    why = f"One of three shards, shard-b, is down for good; of A's two locks on each there ran out {said}."
    return compared(not any(count for shard, count in lost.items() if shard != "shard-b"), why)


def fits(interval: float, budget: float, who: str) -> Shown:
    """Whether a watchdog accepts these times for a lease of 30 s."""
    what = f"An interval of {interval:g} s, and attempts of {budget:g} s ({who})"
    try:
        WatchdogLock(None, "stock", 30.0, interval=interval, budget=budget)
    except ValueError as error:
        return compared(False, f"{what}: «{error}»")
    return compared(True, f"{what} fit into a lease of 30 s with a margin of 3 s.")


ERRATA = [
    Erratum(
        number="E60",
        grade=3,
        section="8, question 1",
        claim="TTL / N gives N attempts in a TTL: a third survives two failures, and a quarter hardly helps.",
        truth="N − 1 attempts fall inside the lease, the N-th on its end. A third survives one failure, a quarter "
        "two, which is twice as many.",
        where=EXERCISE.format("Claim 1 · Three chances, two failures", "2 · How many renewals may fail?"),
        wrong=partial(survived, n=3, k=2),
        right=partial(survived, n=4, k=2),
    ),
    Erratum(
        number="E61",
        grade=3,
        section="8, question 1",
        claim="A renewal that fails has another one in ten seconds: three chances in thirty.",
        truth="One renewal is four or five sends, and takes 16 to 22 s before it has failed: one chance. Send once, "
        "with a short time-out, and try again at once.",
        where=EXERCISE.format("Claim 4 · Attempts one after the other", "5 · Three policies"),
        wrong=together(("Up to 3.43", partial(redisson, "3.43")), ("From 4 on", partial(redisson, "4"))),
        right=found_in("policies", partial(outage, "A watchdog with short attempts", 1), profile="deadline", until=28),
        source="Redisson's source and defaults: 3 s for an answer; up to 3.43 three repeats, 1.5 s apart; in 4 four, "
        "at growing intervals. Played here by a model of it, for it is Java.",
    ),
    Erratum(
        number="E62",
        grade=2,
        section="8, question 1",
        claim="Nothing: how far the failure of one renewal reaches is left out.",
        truth="From 3.44 on one task renews all locks of a client, and an error ends its round: a dead shard costs "
        "the locks of shards that work.",
        where="exercise q1, “Many locks, one shard down”",
        wrong=found_in("shard-down", healthy_are_kept, renewal="one-task"),
        right=found_in("shard-down", healthy_are_kept, renewal="task-a-shard"),
        source="Redisson's source, 3.44 and later. Played here by a model of it, for it is Java.",
    ),
    Erratum(
        number="E63",
        grade=1,
        section="8, question 1",
        claim="The interval must not be below three times P99, else renewals queue; ten seconds are safe.",
        truth="They cannot queue: the next is due when the last is over. The bound is from above: interval, all "
        "retries and a margin fit into the TTL.",
        where="exercise q1, “Claim 5 · At least three times P99”",
        wrong=partial(fits, 10.0, HABITS["4"].budget()[1], "all retries of Redisson 4"),
        right=partial(fits, 1.0, 2.5, "one send, in a network that takes 2 s"),
    ),
]
