"""The checks of `reap`. A judge says PASS only where tasks were in fact given back."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..calls import unexpected
from ..trial import PASS, Function, Remark, Run, Setting, Trial, error, fail, not_tested
from .bench import Desk, Facts, Round, Row, all_orders, by_id, in_order, play, shown
from .claims import DONE, PENDING, RUNNING, numbers, pending

IDLE = "reap gave no task back."


def told(call: Mapping[str, Any]) -> str:
    return f"reap(db, {call['args'][0]!r})"


def raised(call: Mapping[str, Any], this: Mapping[str, Any]) -> Remark | None:
    """A remark on a call that raised, or left a transaction open: then nothing was given back."""
    if remark := unexpected(call, told(call)):
        return error(f"{remark.message}{in_order(this)}")
    return not_tested("reap left a transaction open, so nothing was given back.") if call["open"] else None


# -- dead worker's task returns, caller's clock ----------------------------------------------------------------------


def table(draw: random.Random, brink: bool) -> Callable[[float], list[Row]]:
    """Tasks of dead workers, of living ones, and others. brink: one lease ends at this very moment."""
    ids = numbers(draw, 8)
    ago, left = round(draw.uniform(1, 50), 2), round(draw.uniform(5, 50), 2)

    def rows(now: float) -> list[Row]:
        return [
            (ids[0], RUNNING, "B", 3, now - ago),
            (ids[1], RUNNING, "C", 1, now if brink else now - 0.5),
            (ids[2], RUNNING, "D", 2, now + left),
            (ids[3], DONE, "B", 2, now - ago),
            pending(ids[4], 1),
            (ids[5], RUNNING, "B", 7, now - 2 * ago),
            (ids[6], RUNNING, "C", 1, now + 2 * left),
            (ids[7], DONE, "D", 1, now + left),
        ]

    return rows


def play_returns(reap: Function, setting: Setting) -> Facts:
    """plain: alone, twice.  two: two reapers at once.  reclaimed: a rival reaps too, and claims one of the tasks."""
    ids = numbers(setting.draw, 2)

    def once(desk: Desk) -> None:
        desk.call(reap, desk.now)

    def twice(desk: Desk) -> None:
        once(desk)
        once(desk)

    def dead(now: float) -> Iterable[Row]:
        return ((number, RUNNING, "C", 1, now - 1.0) for number in ids)

    if setting.variant == "plain":
        return {"rounds": play(setting, [Round(table(setting.draw, True))], {"A": twice})}, None
    if setting.variant == "two":
        return {"rounds": all_orders(setting, dead, {"A": once, "B": once})}, None
    return {"rounds": all_orders(setting, dead, {"A": once, "B": reaps_and_claims}, 2)}, None


def reaps_and_claims(desk: Desk) -> None:
    desk.reap()
    desk.claim(500.0)


def judge_returns(run: Run) -> Remark:
    judge = {"two": _two, "reclaimed": _reclaimed}.get(run.setting.variant, _plain)
    seen = 0
    for this in run.facts["rounds"]:
        for call in this["calls"]:
            if call["open"] and not call["raised"]:
                return fail(f"{told(call)} gave {call['shown']} and left a transaction open.{in_order(this)}")
            if remark := raised(call, this):
                return remark
            if type(call["value"]) is not int:
                return fail(f"{told(call)} gave {call['shown']}, which is no whole number.")
            seen += call["value"]
        if remark := judge(this):
            return remark
    return PASS if seen else not_tested(IDLE)


def _plain(this: Mapping[str, Any]) -> Remark | None:
    first, second = this["calls"]
    now = first["args"][0]
    if remark := given_back(this["before"], this["after"], now, told(first)):
        return remark
    due = sum(is_over(row, now) for row in this["before"])
    if first["value"] != due:
        return fail(f"{told(first)} gave {first['value']}, though {due} tasks had a lease that was over.")
    if second["value"] != 0:
        return fail(f"{told(second)} gave {second['value']} when it was called again at once.")
    return None


def is_over(row: Any, now: float) -> bool:
    return bool(row[1] == RUNNING and row[4] <= now)


def given_back(before: Iterable[Any], after: Iterable[Any], now: float, said: str) -> Remark | None:
    """What is wrong with the table after one reaper has been there, if anything."""
    rows = by_id(after)
    for old in before:
        new = rows.get(old[0])
        if not is_over(old, now) and new != old:
            return fail(f"After {said} there is {shown(new)}; before it that was {shown(old)}.")
        if is_over(old, now) and (new is None or new[1:3] != [PENDING, None] or new[4] is not None or new[3] < old[3]):
            return fail(f"After {said} there is {shown(new)}; before it that was {shown(old)}.")
    return None


def _two(this: Mapping[str, Any]) -> Remark | None:
    if left := [row for row in this["after"] if row[1] != PENDING]:
        return fail(f"Two reapers were at work, and there is still {shown(left[0])}.{in_order(this)}")
    counts = [call["value"] for call in this["calls"]]
    due = len(this["before"])
    if sum(counts) != due:
        return fail(f"{due} leases were over; two reapers at once gave {counts[0]} and {counts[1]}.{in_order(this)}")
    return None


def _reclaimed(this: Mapping[str, Any]) -> Remark | None:
    claimed, row = this["changed"]["B"][1], this["after"][0]
    if claimed and row[1:3] != [RUNNING, "B"]:
        was = f"B claimed task {row[0]} anew, for 500 s"
        return fail(f"{was}; at the end of the round there is {shown(row)}.{in_order(this)}")
    return None


def play_clock(reap: Function, setting: Setting) -> Facts:
    """early: `now` counts from a start of the scheduler's own.  ahead: it is years ahead of this machine's clocks."""
    draw = setting.draw
    now = round(draw.uniform(60, 900) if setting.variant == "early" else draw.uniform(3e9, 4e9), 2)
    rows = table(draw, False)
    work = {"A": lambda desk: desk.call(reap, now)}
    return {"rounds": play(setting, [Round(lambda _: rows(now))], work)}, None


def judge_clock(run: Run) -> Remark:
    (this,) = run.facts["rounds"]
    (call,) = this["calls"]
    if remark := raised(call, this):
        return remark
    return picked(this, call) or PASS


def picked(this: Mapping[str, Any], call: Mapping[str, Any]) -> Remark | None:
    """Whether a RUNNING task was left that should not be, or the other way round; what became of it is not asked."""
    now, rows = call["args"][0], by_id(this["after"])
    for old in this["before"]:
        new = rows.get(old[0])
        if old[1] == RUNNING and is_over(old, now) == (new is not None and new[1] == RUNNING):
            return fail(f"After {told(call)} there is {shown(new)}; before it that was {shown(old)}.")
    return None


# -- finished stays finished -----------------------------------------------------------------------------------------


def play_finished(reap: Function, setting: Setting) -> Facts:
    """Two workers whose leases are over complete after all, one after the other, while the reaper is at work."""
    ids = numbers(setting.draw, 3)
    v = setting.draw.randrange(1, 30)

    def rows(now: float) -> Iterable[Row]:
        return ((number, RUNNING, "B", v, now - 1.0) for number in ids)

    def completes(desk: Desk) -> None:
        for number in ids[:2]:
            desk.complete(number, v)

    work = {"A": lambda desk: desk.call(reap, desk.now), "B": completes}
    return {"rounds": all_orders(setting, rows, work, 2)}, None


def judge_finished(run: Run) -> Remark:
    stayed = returned = 0
    for this in run.facts["rounds"]:
        (call,) = this["calls"]
        if remark := raised(call, this):
            return remark
        for done, row in zip(this["changed"]["B"], this["after"], strict=False):
            if done and row[1] != DONE:
                return fail(f"B completed task {row[0]}; at the end there is {shown(row)}.{in_order(this)}")
            stayed += done
        returned += sum(row[1] == PENDING for row in this["after"])
    return PASS if stayed and returned else not_tested(IDLE)


REAPS = {
    "dead worker's task returns": Trial("reap", play_returns, judge_returns, ("plain", "two", "reclaimed")),
    "caller's clock": Trial("reap", play_clock, judge_clock, ("early", "ahead")),
    "finished stays finished": Trial("reap", play_finished, judge_finished, ("race",)),
}
