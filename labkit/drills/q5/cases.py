"""What befalls a pod, check by check: for each variant a case, with a name, a TTL, steps and values that are drawn."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ...faults import DropRequest
from ..trial import Function, Remark, Setting, Trial
from .stage import WORDS, Case, Hook, play
from .watch import Watch, watched

Stage = Callable[[str, random.Random], Case]
ENDLESS = 20.0  # TTLs: an outage that outlasts the run


def trial(stage: Stage, judge: Callable[[Watch], Remark], *variants: str) -> Trial:
    def staged(run: Function, setting: Setting) -> Any:
        return play(run, stage(setting.variant, setting.draw), setting)

    return Trial("run", staged, watched(judge), variants)


# -- three kinds of work ---------------------------------------------------------------------------------------------


def brief(draw: random.Random) -> Case:
    """A few short steps, done well within one TTL."""
    return case(draw, draw.randrange(4, 7), (0.03, 0.08), (0.005, 0.02))


def heavy(draw: random.Random, count: int = 8) -> Case:
    """Steps that take nearly all that a step may take; two TTLs and more."""
    return case(draw, count, (0.2, 0.249), (0.02, 0.049))


def case(draw: random.Random, count: int, steps: tuple[float, float], writes: tuple[float, float]) -> Case:
    """A case in which nothing befalls the pod. steps, writes: how long they take, in TTLs."""
    ttl = round(draw.uniform(6, 40), 2)
    values: list[Any] = [draw.choice((draw.randrange(1, 1000), f"page-{draw.randrange(100)}")) for _ in range(count)]
    values[draw.randrange(count)] = draw.choice((None, 0, ""))
    twin = draw.randrange(count - 1)
    values[twin + 1] = values[twin]  # two steps may well have the same result
    return Case(
        name=f"{draw.choice(WORDS)}-{draw.randrange(100)}",
        ttl=ttl,
        steps=tuple(round(ttl * draw.uniform(*steps), 4) for _ in range(count)),
        writes=tuple(round(ttl * draw.uniform(*writes), 4) for _ in range(count)),
        values=tuple(values),
    )


def with_hooks(plain: Case, *hooks: Hook, **changes: Any) -> Case:
    return replace(plain, hooks=hooks, **changes)


# -- what befalls them -----------------------------------------------------------------------------------------------


def waiting(variant: str, draw: random.Random) -> Case:
    """B has the lock at first. long: for some TTLs.  unreachable: so is Redis, for a part of that time.  term: TERM
    comes meanwhile.  grant: TERM comes with the grant.  before: TERM came before the call; the lock is free."""
    plain = brief(draw)
    ttl = plain.ttl
    held = {"long": draw.uniform(1.5, 3), "grant": draw.uniform(0.3, 0.8), "before": 0.0, "term": draw.uniform(2, 3)}
    cut = Hook("cut", "start", later=ttl * draw.uniform(0.3, 0.6), lasting=ttl * draw.uniform(0.3, 0.8))
    hooks = {
        "unreachable": (cut,),
        "term": (Hook("term", "start", later=ttl * draw.uniform(0.2, 1.2)),),
        "grant": (Hook("term", "grant"),),
        "before": (Hook("term", "start"),),
    }.get(variant, ())
    return with_hooks(plain, *hooks, held=ttl * held.get(variant, draw.uniform(1.5, 2.5)))


def order(variant: str, draw: random.Random) -> Case:
    """plain: nothing happens.  one: a renewal is lost.  silence: a few are.  term: TERM in a step."""
    if variant == "plain":
        return brief(draw)
    if variant == "term":
        return with_hooks(brief(draw), Hook("term", "step", draw.randrange(2, 4), draw.uniform(0.2, 0.8)))
    return transient(variant, draw)


def renewal(variant: str, draw: random.Random) -> Case:
    """B wants the lock all the time. many: many short steps.  heavy: twelve long ones."""
    plain = heavy(draw, 12) if variant == "heavy" else case(draw, 36, (0.02, 0.09), (0.005, 0.02))
    return with_hooks(plain, rival=True)


def transient(variant: str, draw: random.Random) -> Case:
    """one: a single renewal gets lost.  silence: what is sent is lost.  refusal: nobody listens.  long: silence for
    more than half of a TTL."""
    plain = case(draw, 10, (0.1, 0.249), (0.01, 0.049))
    if variant == "one":
        lost = DropRequest(client="A", on="EVALSHA", nth=draw.randrange(1, 4))
        return with_hooks(plain, faults=(lost,))
    lasting = plain.ttl * (draw.uniform(0.5, 0.6) if variant == "long" else draw.uniform(0.25, 0.4))
    do = "down" if variant == "refusal" else "cut"
    return with_hooks(plain, Hook(do, "step", draw.randrange(1, 4), draw.uniform(0.1, 0.9), lasting))


def losing(variant: str, draw: random.Random) -> Case:
    """The lease goes while there is work to do. cut, refused: Redis cannot be reached any more.  paused: in a step, for
    longer than a TTL.  stolen, evicted: Redis forgets the key; B takes the lock, or nobody does.  grant, extend: the
    process stands still when the answer of Redis has come, until that is worth nothing."""
    plain = heavy(draw)
    nth, part, longer = draw.randrange(1, 4), draw.uniform(0.2, 0.8), plain.ttl * draw.uniform(1.1, 1.8)
    hook = {
        "cut": Hook("cut", "step", nth, part),
        "refused": Hook("down", "step", nth, part, ENDLESS * plain.ttl),
        "paused": Hook("pause", "step", nth, part, longer),
        "stolen": Hook("evict", "step", nth, part),
        "evicted": Hook("evict", "step", nth, part),
        "grant": Hook("pause", "grant", lasting=longer),
        "extend": Hook("pause", "extend", nth - 1, lasting=longer),
    }[variant]
    return with_hooks(plain, hook, rival=variant in ("cut", "paused", "stolen", "extend"))


def stop(variant: str, draw: random.Random) -> Case:
    """When TERM comes. step, write: in the middle of one.  any: at any moment of the work.  renewal: just as one
    is sent.  waiting: B has the lock.  unreachable: in a step, and Redis cannot be reached."""
    if variant == "waiting":
        return waiting("term", draw)
    plain = heavy(draw)
    nth, part = draw.randrange(0, 3), draw.uniform(0.3, 0.9)
    told = {
        "step": Hook("term", "step", nth, part),
        "write": Hook("term", "write", nth, part),
        "renewal": Hook("term", "asking", nth),
        "any": Hook("term", "grant", later=plain.ttl * draw.uniform(0.1, 0.9)),
        "unreachable": Hook("term", "step", nth, part),
    }[variant]
    cut = (Hook("cut", "step", nth, 0.1),) if variant == "unreachable" else ()
    return with_hooks(plain, *cut, told)


def unlocking(variant: str, draw: random.Random) -> Case:
    """done: all is well.  term: TERM in a step.  gone: the key vanishes during the last write.  unreachable: Redis
    cannot be reached from the last write on."""
    plain = brief(draw)
    last = len(plain.steps) - 1
    hooks = {
        "term": (Hook("term", "step", draw.randrange(1, last), draw.uniform(0.2, 0.8)),),
        "gone": (Hook("evict", "write", last),),
        "unreachable": (Hook("cut", "write", last),),
    }.get(variant, ())
    return with_hooks(plain, *hooks)


def last(variant: str, draw: random.Random) -> Case:
    """done: all is well, and the process lives on for a while.  The others: TERM, as above."""
    return unlocking(variant, draw) if variant == "done" else stop(variant, draw)


def telling(variant: str, draw: random.Random) -> Case:
    """last: TERM in the last write.  The others: as elsewhere."""
    if variant == "last":
        plain = brief(draw)
        return with_hooks(plain, Hook("term", "write", len(plain.steps) - 1))
    if variant in ("done", "term", "gone"):
        return unlocking(variant, draw)
    return waiting("term", draw) if variant == "waiting" else losing(variant, draw)


def raising(variant: str, draw: random.Random) -> Case:
    """Which call raises, and what."""
    if variant == "acquire":
        return waiting("unreachable", draw)
    if variant in ("one", "silence"):
        return transient(variant, draw)
    return losing(variant, draw) if variant == "evicted" else unlocking(variant, draw)
