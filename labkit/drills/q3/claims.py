"""The checks of `claim`. A judge says PASS only where tasks were in fact claimed."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..calls import unexpected
from ..trial import PASS, Function, Remark, Run, Setting, Trial, error, fail, not_tested
from .bench import Desk, Facts, Round, Row, all_orders, by_id, in_order, play, shown

NOBODY = "claim gave no task to anybody."
PENDING, RUNNING, DONE = "PENDING", "RUNNING", "DONE"


def pending(number: int, version: int = 0) -> Row:
    return (number, PENDING, None, version, None)


def numbers(draw: random.Random, count: int) -> list[int]:
    """Ids of tasks, with gaps."""
    return sorted(draw.sample(range(1, 90), count))


def told(call: Mapping[str, Any]) -> str:
    given = ", ".join(repr(arg) for arg in call["args"])
    return f"claim(db, {given})"


def odd(call: Mapping[str, Any], this: Mapping[str, Any]) -> Remark | None:
    """A remark on a call that raised, or gave what is neither None nor (id, version)."""
    if remark := unexpected(call, told(call)):
        return error(f"{remark.message}{in_order(this)}")
    value = call["value"]
    if value is None and call["shown"] == "None":
        return None
    if isinstance(value, list) and len(value) == 2 and all(type(each) is int for each in value):
        return None
    return fail(f"{told(call)} gave {call['shown']}, which is neither None nor (id, version).")


# -- claim recorded --------------------------------------------------------------------------------------------------


def play_recorded(claim: Function, setting: Setting) -> Facts:
    """plain: alone, beside tasks that are not to be had.  moved: a rival claims and gives back between statements."""
    draw = setting.draw
    ids = numbers(draw, 7)
    lease = round(draw.uniform(5, 90), 2)
    if setting.variant == "moved":
        tasks = [pending(number, draw.randrange(5)) for number in ids[:3]]
        work = {"A": lambda desk: desk.call(claim, desk.name, desk.now, lease), "B": claims_and_gives_back}
        return {"rounds": all_orders(setting, lambda now: tasks, work, 2), "lease": lease}, None
    now = round(draw.choice((draw.uniform(1, 900), draw.uniform(3e9, 4e9))), 2)

    def rows(_: float) -> Iterable[Row]:
        yield (ids[0], RUNNING, "B", 3, now - 20.0)  # its lease is over: a reaper's business
        yield (ids[1], DONE, "B", 2, now - 50.0)
        yield (ids[2], RUNNING, "C", 1, now + 20.0)
        for number in ids[3:]:
            yield pending(number, draw.randrange(6))

    work = {"A": lambda desk: desk.call(claim, desk.name, now, lease)}
    return {"rounds": play(setting, [Round(rows)] * 4, work), "lease": lease}, None


def claims_and_gives_back(desk: Desk) -> None:
    desk.claim(0.0)
    desk.reap()


def judge_recorded(run: Run) -> Remark:
    seen = 0
    for this in run.facts["rounds"]:
        for call in this["calls"]:
            if remark := odd(call, this):
                return remark
            if call["value"] is not None:
                seen += 1
                if remark := _recorded(call, this, run.facts["lease"], run.setting.variant):
                    return remark
    return PASS if seen else not_tested(NOBODY)


def _recorded(call: Mapping[str, Any], this: Mapping[str, Any], lease: float, variant: str) -> Remark | None:
    (number, version), (worker, now, _) = call["value"], call["args"]
    before, after = by_id(this["before"]), by_id(this["after"])
    row, said = after.get(number), f"{told(call)} gave ({number}, {version})"
    order = in_order(this) if variant == "moved" else ""
    if number not in before or before[number][1] != PENDING:
        return fail(f"{said}; before the call that was {shown(before.get(number))}.")
    if call["open"]:
        return fail(f"{said}, but nothing was committed: for all others it is still {shown(row)}.")
    if row is None or row[1:3] != [RUNNING, worker]:
        return fail(f"{said}; in the table there is then {shown(row)}.{order}")
    if row[3] != version or (variant != "moved" and version != before[number][3] + 1):
        return fail(f"{said}; before the call its version was {before[number][3]}, after it {row[3]}.{order}")
    if not isinstance(row[4], (int, float)) or abs(row[4] - (now + lease)) > 1e-6:
        return fail(f"{said}; lease_until is then {row[4]}, with now = {now} and lease = {lease}.")
    changed = [other for other in before if other != number and after.get(other) != before[other]]
    if changed and variant != "moved":
        return fail(f"{said}, and another task has changed as well: {shown(after.get(changed[0]))}.")
    return None


# -- one claim each --------------------------------------------------------------------------------------------------


def play_each(claim: Function, setting: Setting) -> Facts:
    """two: two workers and one task, in all orders.  three: three workers ask until there is nothing left."""
    draw = setting.draw
    lease = round(draw.uniform(20, 90), 2)

    def once(desk: Desk) -> None:
        desk.call(claim, desk.name, desk.now, lease)

    def until_none(desk: Desk) -> None:
        for _ in range(4):
            if desk.call(claim, desk.name, desk.now, lease) is None:
                return

    if setting.variant == "two":
        (number,) = numbers(draw, 1)
        return {"rounds": all_orders(setting, lambda now: [pending(number)], {"A": once, "B": once})}, None
    tasks = [pending(number) for number in numbers(draw, 4)]
    work = dict.fromkeys("ABC", until_none)
    return {"rounds": play(setting, [Round(lambda now: tasks)] * 12, work)}, None


def judge_each(run: Run) -> Remark:
    seen = 0
    for this in run.facts["rounds"]:
        holders: dict[int, str] = {}
        for call in this["calls"]:
            if remark := odd(call, this):
                return remark
            if call["value"] is None or call["open"]:
                continue
            number, worker = call["value"][0], call["worker"]
            if number in holders:
                who = f"{holders[number]} and {worker}" if holders[number] != worker else f"{worker} twice"
                return fail(f"Task {number} was given to {who}, though nobody had given it back.{in_order(this)}")
            holders[number] = worker
            seen += 1
        for number, worker in holders.items():
            row = by_id(this["after"]).get(number)
            if row is None or row[2] != worker:
                return fail(f"Task {number} was given to {worker}; in the table: {shown(row)}.{in_order(this)}")
    return PASS if seen else not_tested(NOBODY)


# -- every task found ------------------------------------------------------------------------------------------------


def play_found(claim: Function, setting: Setting) -> Facts:
    """alone: one worker asks until there is nothing left.  race: two workers, two tasks, all orders.  overtaken: a
    rival takes the next task between any two statements, until one is left."""
    draw = setting.draw
    lease = round(draw.uniform(20, 90), 2)
    ids = numbers(draw, 9)

    def once(desk: Desk) -> None:
        desk.call(claim, desk.name, desk.now, lease)

    def until_none(desk: Desk) -> None:
        for _ in range(9):
            if desk.call(claim, desk.name, desk.now, lease) is None:
                return

    if setting.variant == "alone":
        return {"rounds": play(setting, [Round(mixed(ids))] * 2, {"A": until_none})}, None
    if setting.variant == "race":
        two = [pending(number) for number in ids[:2]]
        return {"rounds": all_orders(setting, lambda now: two, {"A": once, "B": once})}, None
    turns = [("A", *"BA" * 20), tuple("BA" * 20)]
    rounds = [Round(lambda now: [pending(number) for number in ids], each) for each in turns]
    return {"rounds": play(setting, rounds, {"A": once, "B": takes_all_but_one})}, None


def mixed(ids: list[int]) -> Callable[[float], Iterable[Row]]:
    """Four tasks that are free, among some that are not."""

    def rows(now: float) -> Iterable[Row]:
        yield (ids[0], DONE, "B", 1, now - 9)
        yield (ids[2], RUNNING, "B", 1, now + 9)
        yield (ids[5], DONE, "C", 4, now - 9)
        yield from (pending(ids[n], n) for n in (1, 3, 4, 6))

    return rows


def takes_all_but_one(desk: Desk) -> None:
    while desk.claim(500.0, but=1):
        pass


def judge_found(run: Run) -> Remark:
    seen = 0
    for this in run.facts["rounds"]:
        for call in this["calls"]:
            if remark := odd(call, this):
                return remark
            if call["value"] is None and call["open"]:
                return fail(f"{told(call)} gave None and left a transaction open.{in_order(this)}")
        seen += sum(_holds(call, this) for call in this["calls"])
        nothing = [call for call in this["calls"] if call["value"] is None]
        left = [row for row in this["after"] if row[1] == PENDING]
        if nothing and left:
            many = f"{len(left)} task(s) are" if run.setting.variant == "alone" else f"task {left[0][0]} is"
            return fail(f"{told(nothing[0])} gave None, though {many} still PENDING.{in_order(this)}")
        if run.setting.variant == "alone" and (remark := _handed_out(this)):
            return remark
    return PASS if seen else not_tested(NOBODY)


def _holds(call: Mapping[str, Any], this: Mapping[str, Any]) -> bool:
    """Whether this call was given a task that is then its worker's."""
    row = by_id(this["after"]).get(call["value"][0]) if call["value"] is not None else None
    return row is not None and row[1:3] == [RUNNING, call["worker"]]


def _handed_out(this: Mapping[str, Any]) -> Remark | None:
    """Whether each task that was free was given to the one who asked till nothing was left."""
    given = {call["value"][0] for call in this["calls"] if call["value"] is not None}
    missed = [row[0] for row in this["before"] if row[1] == PENDING and row[0] not in given]
    if not missed:
        return None
    if this["calls"][-1]["value"] is not None:
        return not_tested(f"after {len(this['calls'])} calls claim still gave a task, and task {missed[0]} never.")
    return fail(f"{told(this['calls'][-1])} gave None, and task {missed[0]}, which was PENDING, was given to nobody.")


CLAIMS = {
    "claim recorded": Trial("claim", play_recorded, judge_recorded, ("plain", "moved")),
    "one claim each": Trial("claim", play_each, judge_each, ("two", "three")),
    "every task found": Trial("claim", play_found, judge_found, ("alone", "race", "overtaken")),
}
