"""The check of `guarded` that is a race: a new holder registers, reads, and relies on what it has read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..trial import PASS, Function, Remark, Run, Setting, Trial, fail, not_tested
from .bench import Desk, Facts, all_orders, books, pays
from .cast import Cast
from .look import deadlocked, differences, in_order, written
from .writes import HOLDER_TOO, raised, told


def play_race(guarded: Function, setting: Setting) -> Facts:
    """All orders of the answer's statements and the new holder's three."""
    cast = Cast(setting.draw)
    draw = cast.draw
    a, b = cast.rising(2)
    (mine,) = cast.resources(1)
    statements = [pays(draw), books(draw)]

    def rival(desk: Desk) -> None:
        desk.register(mine, *b)
        desk.read()

    work = {"A": lambda desk: desk.call(guarded, mine, *a, list(statements)), "B": rival}
    return {"rounds": all_orders(setting, {mine: a}, work, 3)}, None


def judge_race(run: Run) -> Remark:
    accepted = refused = 0
    for this in run.facts["rounds"]:
        if deadlocked(this):
            continue
        (call,), rival = this["calls"], this["rivals"]["B"]
        if remark := raised(call, this):
            return remark
        if call["open"] and call["value"]:
            return not_tested("guarded left a transaction open, so what it wrote was not committed.")
        if remark := _judged(call, rival, this):
            return remark
        accepted, refused = accepted + bool(call["value"]), refused + (not call["value"])
    return PASS if accepted and refused else not_tested(HOLDER_TOO)


def _judged(call: Mapping[str, Any], rival: Mapping[str, Any], this: Mapping[str, Any]) -> Remark | None:
    before, after = this["before"], {**this["after"], "guard": this["before"]["guard"]}
    said, order = f"{told(call)} gave {call['shown']}", in_order(this)
    if not call["value"]:
        if changed := differences(before, after):
            return fail(f"{said}, and yet it changed something: {changed}.{order}")
        return fail(f"{said}, before anybody else had registered.{order}") if _was_first(this) else None
    if wrong := differences(written(before, call["args"][3]), after):
        return fail(f"{said}, but not all of it is there: {wrong}.{order}")
    if late := differences({**after, **rival["seen"]}, after):
        return fail(f"{said}, and wrote after B had registered and read the items: {late}.{order}")
    return None


def _was_first(this: Mapping[str, Any]) -> bool:
    """Whether the answer had done all it did when the new holder registered."""
    who = [worker for worker, text, _ in this["log"] if worker == "A" or text == "(registers)"]
    return bool(who[-1] == "B")  # the statement, not its commit: who meets its lock may say no already


ATOMIC = {"atomic check": Trial("guarded", play_race, judge_race, ("race",))}
