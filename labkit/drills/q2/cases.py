"""How the plays of question 2 begin: names, times and nodes are drawn; a stage says what befalls them."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ..trial import Function, Setting, Trial
from .look import Judge, looked
from .stage import WORDS, Case, play

Staging = Callable[[str, random.Random], Case]
MANY = (5, 5, 7)  # nodes, where three are too few for what is staged


def case(draw: random.Random, nodes: Sequence[int] = (3, 5, 5, 7)) -> Case:
    """Healthy nodes. The TTL is long beside what an attempt takes, however slow it is."""
    name = f"{draw.choice(WORDS)}-{draw.randrange(100)}"
    return Case(name=name, ttl=round(draw.uniform(4, 30), 2), nodes=draw.choice(nodes))


def but(plain: Case, **changes: Any) -> Case:
    return replace(plain, **changes)


def some(draw: random.Random, plain: Case, *counts: int) -> list[tuple[int, ...]]:
    """As many nodes as each count says, no node twice; the first of the first group comes before all others."""
    order = draw.sample(range(plain.nodes), sum(counts))
    first = order.index(min(order))
    order[0], order[first] = order[first], order[0]
    groups, start = [], 0
    for count in counts:
        groups.append(tuple(sorted(order[start : start + count])))
        start += count
    return groups


def majority(plain: Case) -> int:
    return plain.nodes // 2 + 1


def by_turns(nodes: Sequence[int], *ails: str) -> dict[int, str]:
    """What ails each of these nodes: the first kind, the second, and so on, and then again."""
    return {number: ails[turn % len(ails)] for turn, number in enumerate(nodes)}


def trial(what: str, stage: Staging, judge: Judge, *variants: str, harmless: bool = False) -> Trial:
    def staged(function: Function, setting: Setting) -> Any:
        return play(function, stage(setting.variant, setting.draw), what, setting)

    return Trial(what, staged, looked(what, judge, harmless), variants)
