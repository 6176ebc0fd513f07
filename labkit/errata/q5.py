"""Question five of the article: what Kubernetes adds to a lock's troubles."""

from __future__ import annotations

import time
from collections.abc import Iterable
from functools import partial
from typing import Any

from ..faults import Pause
from ..locks import WatchdogLock
from ..sim import World
from ..timeline import Timeline
from .erratum import Erratum, Shown, compared, played
from .telling import found_in

# -- a primary on the minority's side ----------------------------------------------------------------------------------


def is_told(timeline: Timeline) -> Shown:
    """Whether A, on the minority's side, learns that its lock is lost."""
    a, b = (next(belief for belief in timeline.belief("stock") if belief.node == node) for node in "AB")
    renewals = [op for op in timeline.ops("extend") if (op.node, op.outcome) == ("A", "ok") and op.call > b.start]
    told = "was never told" if a.why != "lost" else f"was told at t = {a.end:.3f} s that its lock is lost"
    both = max(min(a.end, b.end) - b.start, 0.0)
    why = f"B had the lock at t = {b.start:.3f} s; after that {len(renewals)} renewals of A's succeeded, and A {told}. "
    return compared(a.why == "lost", f"{why}Both believed for {both:.1f} s.")


# -- a quota of the processor ------------------------------------------------------------------------------------------

PERIOD, QUOTA, INTERVAL, TTL = 100, 10, 10_000, 30_000  # ms; a tenth of a processor, and a watchdog's default times
UNTIL = 60_000  # ms; long enough for five renewals


def wall(cpu: int) -> int:
    """Milliseconds until work of `cpu` milliseconds is done that may run for QUOTA in each PERIOD."""
    now = 0
    while cpu > QUOTA:
        now, cpu = now + PERIOD, cpu - QUOTA
    return now + cpu


def stood_still(stops: Iterable[tuple[int, int]]) -> Timeline:
    """A run in which A's process stands still from each time on for as long as said, both in ms, under a watchdog."""

    def owner(me: Any) -> None:
        on_lost = partial(me.lost, "stock")
        me.lock(WatchdogLock(me.redis(), "stock", TTL / 1000, interval=INTERVAL / 1000, on_lost=on_lost)).acquire(0)
        time.sleep(UNTIL / 1000)

    with World() as world:
        world.server("redis")
        world.client("A").start(owner)
        for at, lasting in stops:
            world.arm(Pause("A", lasting=lasting / 1000, at=at / 1000))
        return world.run(until=UNTIL / 1000 - 1)


def told(timeline: Timeline) -> str:
    """What became of A's lease, and how often it was renewed."""
    renewed = sum(op.outcome == "ok" for op in timeline.ops("extend"))
    ends = [event.t for event in timeline.find("lost", "A")]
    end = f"lost at t = {ends[0]:.3f} s" if ends else "kept"
    return f"the lease is {end}; renewals that succeeded: {renewed}."


def quota_used_up() -> Shown:
    """Whether a watchdog loses its lease that has used its quota up in every period."""
    run = stood_still((at + QUOTA, PERIOD - QUOTA) for at in range(0, UNTIL, PERIOD))
    return compared(bool(run.find("lost", "A")), f"A runs for {QUOTA} ms in each {PERIOD} ms: {told(run)}")


def throttled_collection() -> Shown:
    """Whether it does by two seconds of collection that begin just before a renewal."""
    at, lasts = 2 * INTERVAL - QUOTA, wall(2000)
    run = stood_still([(at, lasts)])
    why = (
        f"A collection of 2000 ms at {QUOTA / PERIOD:g} processors takes {lasts} ms, here from t = {at / 1000:g} s on: "
    )
    return compared(bool(run.find("lost", "A")), f"{why}{told(run)}")


TERM: dict[str, Any] = {"work": 20.0, "term": 5.0}

ERRATA = [
    Erratum(
        number="E82",
        grade=3,
        section="8, Q5, risk one",
        claim="At the KILL the renewing thread dies before the thread that works.",
        truth="KILL ends all threads at once. The danger is TERM: a hook closes the lock's client while the work goes "
        "on, and the lease runs out under it. Stop the work first.",
        where="exercise q5",
        wrong=played("pod-end", "no_stale_write", order="client-first", **TERM),
        right=played("pod-end", "no_stale_write", order="drain-first", **TERM),
        source="Redisson's renewal task returns once the client is shutting down (its source).",
    ),
    Erratum(
        number="E83",
        grade=3,
        section="8, Q5, remedy one",
        claim="Release the lock in the preStop hook.",
        truth="That runs before TERM, while the work goes on: the next pod gets the lock, and both write. Stop taking "
        "work, finish or drop the section, unlock, exit; grace longer than the section.",
        where="exercise q5",
        wrong=played("pod-end", "no_stale_write", order="unlock-first", **TERM),
        right=played("pod-end", "no_stale_write", order="drain-first", **TERM),
        source="Kubernetes documentation, «Pod Lifecycle»: preStop is run before the TERM signal.",
    ),
    Erratum(
        number="E84",
        grade=3,
        section="8, Q5, remedy two",
        claim="Redlock instead of one node lessens what a partition does.",
        truth="It does nothing for a client that is cut off or stands still: the store must refuse it. And a Redis "
        "pod that comes back with an empty volume is a node that forgets.",
        where="notebook 05, “8 · A holder that stands still” and “7 · A node forgets, a clock jumps”; exercise q5",
        wrong=played("cut-off-pod", "no_stale_write", scheme="five"),
        right=played("cut-off-pod", "no_stale_write", scheme="fenced"),
    ),
    Erratum(
        number="E85",
        grade=2,
        section="8, Q5, risk two",
        claim="«False master»: the pod loses Redis, its renewals fail and its lock expires.",
        truth="That is a pod cut off. Beside an old primary on the minority's side its renewals succeed and nobody "
        "tells it. min-replicas-to-write bounds that.",
        where="exercise q5; notebook 05, “1 · An acknowledged lock is forgotten”",
        wrong=found_in("minority-master", is_told, needed=0),
        right=found_in("minority-master", is_told, needed=1),
        source="Redis documentation, «Redis replication», min-replicas-to-write and min-replicas-max-lag.",
    ),
    Erratum(
        number="E86",
        grade=1,
        section="8, Q5, risk three",
        claim="When the quota of the processor is used up, the watchdog gets no time and the lock expires.",
        truth="A throttle ends with its period of 100 ms, a two-hundredth of the margin. But it stretches work: two "
        "seconds of collection at a tenth of a processor take twenty, and may cost the lease.",
        where="exercise q5",
        wrong=quota_used_up,
        right=throttled_collection,
        source="Linux kernel documentation, «CFS Bandwidth Control». A throttle is played as a pause of the process: "
        "no processor is throttled.",
    ),
    Erratum(
        number="E87",
        grade=2,
        section="8, Q5, risk one",
        claim="A pod drifts from node to node, and the old one is told to end.",
        truth="Pods are replaced. Of a node that cannot be reached the pod is evicted after 300 s and lives on; only "
        "a StatefulSet, not force-deleted, waits for it.",
        where="exercise q5",
        wrong=played("ghost-pod", "one_believer", kind="Deployment"),
        right=played("ghost-pod", "one_believer", kind="StatefulSet"),
        source="Kubernetes documentation, «Taints and Tolerations» and «Force Delete StatefulSet Pods». What a "
        "controller does is modelled here by what these pages say.",
    ),
]
