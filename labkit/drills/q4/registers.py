"""The checks of `register`. A judge says PASS only where holders were in fact registered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..calls import unexpected
from ..trial import PASS, Function, Remark, Run, Setting, Trial, error, fail, not_tested
from .bench import Desk, Facts, Pair, Round, all_orders, play
from .cast import Cast, shown_pair
from .look import deadlocked, differences, guard_of, in_order

NOBODY = "register let nobody in."


def told(call: Mapping[str, Any]) -> str:
    return f"register(db, {', '.join(map(repr, call['args']))})"


def odd(call: Mapping[str, Any], this: Mapping[str, Any]) -> Remark | None:
    """A remark on a call that raised."""
    if remark := unexpected(call, told(call)):
        return error(f"{remark.message}{in_order(this)}")
    return None


# -- one holder after the other --------------------------------------------------------------------------------------


def order_of_tokens(cast: Cast) -> tuple[dict[str, Pair], list[tuple[str, str, Pair]]]:
    """The guard at first, and who comes: the story so far, the resource, the pair."""
    a, b, c = cast.rising(3)
    again = cast.later(a, c)
    last = cast.later(again)
    mine, other = cast.resources(2, quoted=True)
    guard = {other: (b[0] + 1, cast.owner("X"))}
    own = "the same owner in a later grant"
    return guard, [
        ("Nobody has registered for it yet", mine, a),
        ("It has registered already", mine, a),
        (f"{shown_pair(a)} has registered", mine, b),
        (f"{shown_pair(b)} has registered", mine, a),
        ("It has registered already", mine, b),
        (f"{shown_pair(b)} has registered", mine, c),
        (f"{shown_pair(c)} has registered", mine, b),
        (f"{shown_pair(c)} has registered, and this owner has got another grant", mine, again),
        (f"{shown_pair(again)} has registered, and this owner has got another grant", mine, last),
        (f"{shown_pair(last)} has registered, {own}", mine, again),
        (f"{shown_pair(last)} has registered, {own}", mine, a),
        ("It has registered already", mine, last),
        (f"{shown_pair(guard[other])} has registered", other, a),
        (f"{shown_pair(guard[other])} has registered", other, (guard[other][0] + 1, cast.owner("Y"))),
    ]


def repeated_token(cast: Cast) -> tuple[dict[str, Pair], list[tuple[str, str, Pair]]]:
    a, c = cast.rising(3)[1:]
    twin = (a[0], cast.owner("T"))
    (mine,) = cast.resources(1)
    return {}, [
        ("Nobody has registered yet", mine, a),
        (f"{shown_pair(a)} has registered, and a failover repeated its number", mine, twin),
        ("It has registered already", mine, a),
        (f"{shown_pair(a)} has registered", mine, c),
        (f"{shown_pair(c)} has registered, and a failover repeated its number", mine, (c[0], twin[1])),
    ]


def play_plain(register: Function, setting: Setting) -> Facts:
    cast = Cast(setting.draw)
    guard, coming = (repeated_token if setting.check == "repeated token" else order_of_tokens)(cast)

    def work(desk: Desk) -> None:
        for about, resource, pair in coming:
            desk.call(register, resource, *pair, about=about)

    return {"rounds": play(setting, [Round(guard)], {"A": work})}, None


def judge_plain(run: Run) -> Remark:
    (this,) = run.facts["rounds"]
    strict, before = run.setting.check == "order of tokens", this["before"]
    for call in this["calls"]:
        if remark := odd(call, this):
            return remark
        resource, *pair = call["args"]
        held, after = guard_of(before, resource), call["tables"]
        right = not held or held[0] < pair[0] or held == pair
        said = f"{call['about']}: {told(call)} gave {call['shown']}"
        if call["open"] and (strict or call["value"]):
            open_ = f"{said} and left a transaction open, so nothing is committed."
            return fail(open_) if strict else not_tested(open_)
        if strict and type(call["value"]) is not bool:
            return fail(f"{said}, which is neither True nor False.")
        if bool(call["value"]) != right:
            return fail(f"{said}. The guard held {_held(held)}.")
        if right and guard_of(after, resource) != pair:
            return fail(f"{said}; then the guard held {_held(guard_of(after, resource))}, before {_held(held)}.")
        expected = {**before, "guard": _with(before["guard"], resource, pair)} if right else before
        if wrong := differences(expected, after):
            return fail(f"{said}; but then there was {wrong}.")
        before = after
    return PASS


def _with(rows: list[list[Any]], resource: str, pair: list[Any]) -> list[list[Any]]:
    return sorted([*(row for row in rows if row[0] != resource), [resource, *pair]])


def _held(held: list[Any]) -> str:
    return shown_pair(held) if held else "no row for it"


# -- races -----------------------------------------------------------------------------------------------------------


def play_race(register: Function, setting: Setting) -> Facts:
    """Two callers at once, in all orders: once nobody has registered before, once somebody has."""
    cast = Cast(setting.draw)
    old, low, high = cast.rising(4)[1:] if setting.check == "repeated token" else cast.rising(3)
    if setting.check == "repeated token":
        high = (low[0], cast.owner("T"))
    (mine,) = cast.resources(1)

    def registers(pair: Pair) -> Any:
        return lambda desk: desk.call(register, mine, *pair)

    work = {"A": registers(low), "B": registers(high)}
    guards: list[dict[str, Pair]] = [{}, {mine: old}]
    return {"rounds": [each for guard in guards for each in all_orders(setting, guard, work)]}, None


def judge_race(run: Run) -> Remark:
    judge = _one_of_them if run.setting.check == "repeated token" else _the_higher
    rounds = [this for this in run.facts["rounds"] if not deadlocked(this)]
    for this in rounds:
        for call in this["calls"]:
            if remark := odd(call, this):
                return remark
            if call["open"]:
                return not_tested("register left a transaction open, so what it did was not committed.")
        if remark := judge(this):
            return remark
    return PASS if rounds else not_tested(NOBODY)


def _the_higher(this: Mapping[str, Any]) -> Remark | None:
    low, high = sorted(this["calls"], key=lambda call: int(call["args"][1]))
    resource, *pair = high["args"]
    held = guard_of(this["after"], resource)
    if not high["value"]:
        return fail(f"{told(high)} gave {high['shown']}, though no higher token came.{in_order(this)}")
    if held != pair:
        return fail(f"{told(high)} gave {high['shown']}; in the end the guard held {_held(held)}.{in_order(this)}")
    if not low["value"] and low["ended"] <= high["begun"]:
        return fail(f"{told(low)} gave {low['shown']}, before a higher token came.{in_order(this)}")
    return None


def _one_of_them(this: Mapping[str, Any]) -> Remark | None:
    held = guard_of(this["after"], this["calls"][0]["args"][0])
    accepted = [call for call in this["calls"] if call["value"]]
    if len(accepted) == 2:
        return fail(f"{told(accepted[0])} and {told(accepted[1])} both gave True.{in_order(this)}")
    if not accepted:
        both = " and ".join(told(call) for call in this["calls"])
        return fail(f"{both} both gave False; the guard held {_held(held)}.{in_order(this)}")
    if held != accepted[0]["args"][1:]:
        return fail(f"{told(accepted[0])} gave True; in the end the guard held {_held(held)}.{in_order(this)}")
    return None


def play_overtaken(register: Function, setting: Setting) -> Facts:
    """Between any two statements of the highest token's holder a lower one registers, ten times; then no more."""
    cast = Cast(setting.draw)
    first, *lower, highest = cast.rising(12)
    (mine,) = cast.resources(1)

    def rival(desk: Desk) -> None:
        for pair in lower:
            desk.register_at_once(mine, *pair)

    turns = [("A", *"BA" * 24), tuple("BA" * 24), tuple("AAB" * 16)]
    rounds = [Round({mine: first}, each) for each in turns]
    work = {"A": lambda desk: desk.call(register, mine, *highest), "B": rival}
    return {"rounds": play(setting, rounds, work)}, None


def judge_overtaken(run: Run) -> Remark:
    rounds = [this for this in run.facts["rounds"] if not deadlocked(this)]
    for this in rounds:
        (call,) = this["calls"]
        if remark := odd(call, this):
            return remark
        if call["open"]:
            return not_tested("register left a transaction open, so what it did was not committed.")
        resource, *pair = call["args"]
        held = guard_of(this["after"], resource)
        if not call["value"]:
            return fail(f"{told(call)} gave {call['shown']}, though no higher token came.{in_order(this)}")
        if held != pair:
            return fail(f"{told(call)} gave True; in the end the guard held {_held(held)}.{in_order(this)}")
    return PASS if rounds else not_tested(NOBODY)


PLAYS = {"plain": play_plain, "race": play_race, "overtaken": play_overtaken}
JUDGES = {"plain": judge_plain, "race": judge_race, "overtaken": judge_overtaken}


def play_any(register: Function, setting: Setting) -> Facts:
    return PLAYS[setting.variant](register, setting)


def judge_any(run: Run) -> Remark:
    return JUDGES[run.setting.variant](run)


REGISTERS = {
    "order of tokens": Trial("register", play_any, judge_any, ("plain", "race", "overtaken")),
    "repeated token": Trial("register", play_any, judge_any, ("plain", "race")),
}
