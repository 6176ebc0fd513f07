"""The stage for `run`: a pod that waits for a lock, works under it step by step, is told to end; and what befalls it.

A mishap strikes at a moment of the work, not of the clock: at the grant, in a certain step, in a certain write. So it
strikes every answer at the same point, however long it waits in between. Everything that counts is an event of the
timeline: the call, grants, steps, writes, TERM, the return.
"""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from redis.exceptions import RedisError

from ...locks import LeaseLost
from ...sim import World, WorldClosed, WorldError
from ...timeline import Timeline
from ..given import DrillLock, given, mark
from ..trial import Function, Setting
from ..where import line_of_answer

WORDS = "orders stock invoice mail-run night-batch seats ledger report cache-fill payout".split()
STORE = "store"  # what `write` sends to; it knows nothing of the lock
PATIENT = 300  # acquisitions; a run that is right makes some fifty


@dataclass(frozen=True)
class Hook:
    """do: what happens.  when: "start", "grant", "step", "write"; "asking" and "extend": before a renewal is sent, and
    when it is back.  nth: which of them, from 0.  part: of a step or write, how much of it has passed by then.
    lasting: seconds of a pause or an outage.  later: seconds between that moment and what happens."""

    do: str
    when: str
    nth: int = 0
    part: float = 0.5
    lasting: float = 0.0
    later: float = 0.0


@dataclass(frozen=True)
class Case:
    """One play, times in seconds. steps, writes: how long each takes.  values: what the steps return.  held: how long B
    has the lock before A gets it.  rival: whether B wants it as soon as A has it."""

    name: str
    ttl: float
    steps: tuple[float, ...]
    writes: tuple[float, ...]
    values: tuple[Any, ...]
    hooks: tuple[Hook, ...] = ()
    faults: tuple[Any, ...] = ()
    held: float = 0.0
    rival: bool = False

    @property
    def until(self) -> float:
        """An end for answers that find none. The longest right run takes half of it."""
        return 20 * self.ttl + 2 * (self.held + sum(self.steps) + sum(self.writes))


def play(run: Function, case: Case, setting: Setting) -> tuple[Mapping[str, Any], Timeline]:
    """Plays the case in a world of its own, latencies drawn from the setting's seed. Raises MemoryError if the answer
    ran out of memory."""
    with World(seed=setting.seed, story=setting.token, patience=setting.patience) as world:
        world.server("redis")
        pod = Pod(world.client("A"), case)
        if case.held or case.rival:
            world.client("B").start(other, case, pod)
        world.client("A").start(pod.live, run)
        for fault in case.faults:
            world.arm(fault)
        try:
            timeline = world.run(until=case.until)
        except WorldError:
            if not pod.failed:
                raise
    if pod.failed:
        raise pod.failed[0]
    return {"ttl": case.ttl, "steps": len(case.steps), "values": list(case.values)}, timeline


class Pod:
    """Client A: calls the answer, and lets the hooks of its case strike."""

    stopping: threading.Event  # made by the client itself, so that waiting for it takes virtual time

    def __init__(self, me: Any, case: Case) -> None:
        self.me, self.case = me, case
        self.failed: list[MemoryError] = []
        self.granted = False

    def live(self, me: Any, run: Function) -> None:
        """The whole life of the process. It stays for one more TTL: what an answer leaves running must show."""
        case = self.case
        self.stopping = threading.Event()
        time.sleep(case.ttl / 50)
        lock = given(me, case.name, case.ttl)
        lock.poll = case.ttl / 20
        watched = me.lock(PodLock.of(me, lock, self))
        steps = [self.step(nth) for nth in range(len(case.steps))]
        self.strike("start", 0)
        self.call(run, watched, steps, me.store(Store(self)).write)
        time.sleep(case.ttl + case.held)

    def call(self, run: Function, *given: Any) -> None:
        """Calls the answer, and notes how the call ended."""
        mark(self.me, "call", "run is called")
        try:
            said = run(*given, self.stopping)
        except (WorldClosed, GeneratorExit):
            raise
        except MemoryError as error:
            self.failed.append(error)  # first: to clear away takes long
            traceback.clear_frames(error.__traceback__)
        except BaseException as error:
            kind, ours = type(error).__name__, isinstance(error, (LeaseLost, RedisError))
            about = {"type": kind, "ours": ours, "message": str(error)[:120], "where": line_of_answer(error)}
            mark(self.me, "raised", f"{kind} gets out of run", **about)
        else:
            text = said if isinstance(said, str) else ""
            mark(self.me, "return", f"run returns {said!r:.40}", said=text[:40], shown=f"{said!r:.40}")

    def step(self, nth: int) -> Callable[[], Any]:
        def step() -> Any:
            mark(self.me, "step", f"step {nth + 1}", nth=nth)
            self.spend(self.case.steps[nth], "step", nth)
            mark(self.me, "stepped", f"step {nth + 1} is done", nth=nth)
            return self.case.values[nth]

        return step

    def spend(self, seconds: float, when: str, nth: int) -> None:
        """Takes that long, and lets happen what is to happen meanwhile."""
        spent = 0.0
        for hook in sorted((h for h in self.case.hooks if (h.when, h.nth) == (when, nth)), key=lambda h: h.part):
            time.sleep(seconds * hook.part - spent)
            spent = seconds * hook.part
            self.happen(hook)
        time.sleep(seconds - spent)

    def strike(self, when: str, nth: int) -> None:
        for hook in self.case.hooks:
            if (hook.when, hook.nth) == (when, nth):
                self.happen(hook)

    def happen(self, hook: Hook) -> None:
        if hook.later:
            threading.Thread(target=self.happen_later, args=(hook,), daemon=True).start()
        else:
            self.do(hook)

    def happen_later(self, hook: Hook) -> None:
        time.sleep(hook.later)
        self.do(hook)

    def do(self, hook: Hook) -> None:
        world, name, lasting = self.me.world, self.me.name, hook.lasting
        if hook.do == "term":
            mark(self.me, "term", f"{name} is told to end (TERM)")
            self.stopping.set()
        elif hook.do == "pause":
            world.pause(name, lasting)
            time.sleep(self.case.ttl / 10_000)  # here it stands still
        else:  # strikes as soon as this code waits
            world.at(world.now, lambda: self.strike_outside(hook.do, lasting))

    def strike_outside(self, what: str, lasting: float) -> None:
        """An outage of the link or of the server, or a key that vanishes."""
        world, name = self.me.world, self.me.name
        if what == "down":
            world.restart("redis", True, lasting)
        elif what == "evict":
            world.evict("redis", self.case.name)
        else:
            world.network.cut(name, "redis")
            if lasting:
                world.at(world.now + lasting, lambda: world.network.heal(name, "redis"))


class PodLock(DrillLock):
    """The lock that is given, with the moments at which something may happen. Who asks for it without end has to wait a
    little, within the contract's TTL/20."""

    pod: Pod
    tries = 0

    @classmethod
    def of(cls, me: Any, lock: Any, pod: Pod) -> PodLock:
        made = cls(lock.client, lock.name, lock.ttl, lock.poll)
        made.pod = pod
        return made

    def acquire(self, timeout: float | None = None) -> Any:
        self.tries += 1
        if self.tries > PATIENT:
            time.sleep(self.ttl / 100)
        lease = super().acquire(timeout)
        if lease is not None and not self.pod.granted:
            self.pod.granted = True
            self.pod.strike("grant", 0)
        return lease

    def extend(self, lease: Any) -> Any:
        self.pod.strike("asking", self.asked)
        extended = super().extend(lease)
        self.pod.strike("extend", self.asked - 1)
        return extended


class Store:
    """Takes whatever it is sent."""

    name = STORE

    def __init__(self, pod: Pod) -> None:
        self.pod, self.written = pod, 0

    def write(self, value: Any) -> None:
        nth, self.written = self.written, self.written + 1
        times = self.pod.case.writes
        self.pod.spend(times[min(nth, len(times) - 1)], "write", nth)


def other(me: Any, case: Case, pod: Pod) -> None:
    """B: has the lock first, for as long as the case says; or wants it once A has it."""
    lock = given(me, case.name, case.held + case.ttl if case.held else case.ttl)
    lock.poll = case.ttl / 10
    if case.held:
        lease = lock.acquire(0)
        time.sleep(case.held)
        lock.release(lease)
        return
    while not pod.granted and me.world.now < case.until / 2:
        time.sleep(case.ttl / 10)
    lease = lock.acquire(case.until / 2)
    time.sleep(case.ttl / 3)
    if lease is not None:
        lock.release(lease)
