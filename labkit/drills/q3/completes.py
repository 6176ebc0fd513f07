"""The checks of `complete`. A judge says PASS only where a holder's own completion was accepted: who always answers
False has refused nobody."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..calls import unexpected
from ..trial import PASS, Function, Remark, Run, Setting, Trial, error, fail, not_tested
from .bench import Desk, Facts, Round, Row, all_orders, by_id, in_order, play, shown
from .claims import DONE, PENDING, RUNNING, numbers

Case = tuple[str, Callable[[float], Row], tuple[int, int], str, bool]  # story, the row, claim, worker, is it right
LOCKED = "complete left a transaction open, so what it did was not committed."


def told(call: Mapping[str, Any]) -> str:
    claim, worker = call["args"]
    return f"complete(db, {tuple(claim)}, {worker!r})"


def odd(call: Mapping[str, Any], this: Mapping[str, Any]) -> Remark | None:
    """A remark on a call that raised; what else it gives is taken for true or false, but in one check."""
    if remark := unexpected(call, told(call)):
        return error(f"{remark.message}{in_order(this)}")
    return None


# -- zombie refused, repeated version --------------------------------------------------------------------------------


def cases(setting: Setting) -> list[Case]:
    """What may have become of a task that A claimed as version v."""
    (one,) = numbers(setting.draw, 1)
    v = setting.draw.randrange(1, 40)
    mine = (one, v)

    def held_by_b(now: float) -> Row:
        return (one, RUNNING, "B", v, now + 20.0)

    if setting.check == "repeated version":
        story = "A claimed it, a failover forgot that, and B claimed it anew under the same version"
        return [(story, held_by_b, mine, "A", False), ("B holds it", held_by_b, mine, "B", True)]
    return zombies(one, v)


def zombies(one: int, v: int) -> list[Case]:
    """Claims that hold, and claims that do not hold any more."""
    mine = (one, v)
    anew = "A's lease ran out, the task was reaped, and A itself claimed it anew"
    return [
        ("A holds it", lambda now: (one, RUNNING, "A", v, now + 20.0), mine, "A", True),
        (
            "A's lease is over, but nobody has reaped it",
            lambda now: (one, RUNNING, "A", v, now - 500.0),
            mine,
            "A",
            True,
        ),
        ("it was reaped", lambda now: (one, PENDING, None, v, None), mine, "A", False),
        ("it was reaped, its version raised", lambda now: (one, PENDING, None, v + 1, None), mine, "A", False),
        ("it was reaped, and B claimed it", lambda now: (one, RUNNING, "B", v + 1, now + 20.0), mine, "A", False),
        (anew, lambda now: (one, RUNNING, "A", v + 1, now + 20.0), mine, "A", False),
        (anew, lambda now: (one, RUNNING, "A", v + 2, now + 20.0), (one, v + 2), "A", True),
        ("it is DONE already", lambda now: (one, DONE, "A", v, now - 1.0), mine, "A", False),
        ("there is no such task", lambda now: (one + 1, RUNNING, "A", v, now + 20.0), mine, "A", False),
    ]


def play_cases(complete: Function, setting: Setting) -> Facts:
    """cases: one after the other, alone.  race: A completes, late, while a rival reaps the task and claims it."""
    if setting.variant == "race":
        return play_race(complete, setting)
    every = cases(setting)
    other = 95  # beside it stands a task of another's, which is nobody's business here

    def table(row: Callable[[float], Row]) -> Round:
        return Round(lambda now: [row(now), (other, RUNNING, "C", 1, now + 9.0)])

    rounds = [table(row) for _, row, *_ in every]
    waiting = [(claim, worker) for _, _, claim, worker, _ in every]

    def work(desk: Desk) -> None:
        desk.call(complete, *waiting.pop(0))

    about = [[story, right] for story, _, _, _, right in every]
    return {"rounds": play(setting, rounds, {"A": work}), "about": about}, None


def judge_cases(run: Run) -> Remark:
    if run.setting.variant == "race":
        return judge_race(run)
    accepted = refused = 0
    for this, (story, right) in zip(run.facts["rounds"], run.facts["about"], strict=True):
        (call,) = this["calls"]
        if remark := odd(call, this):
            return remark
        said = f"{story}: {told(call)} gave {call['shown']}"
        if type(call["value"]) is not bool and run.setting.check == "zombie refused":
            return fail(f"{said}, which is neither True nor False.")
        if call["value"] and not right:
            return fail(f"{said}. The table held {_rows(this['before'])}.")
        changed = [row for row in this["after"] if row not in this["before"]]
        if not call["value"] and changed:
            return fail(f"{said}, and it changed the table: {_rows(changed)}, before {_rows(this['before'])}.")
        if not call["value"] and right and run.setting.check == "zombie refused":
            return fail(f"{said}. The table held {_rows(this['before'])}.")
        if call["value"] and not call["open"] and (wrong := _not_done(call, this)):
            return fail(f"{said}; {wrong}")
        accepted, refused = accepted + bool(call["value"]), refused + (not right)
    return PASS if accepted and refused else not_tested("complete refused the holder as well.")


def _not_done(call: Mapping[str, Any], this: Mapping[str, Any]) -> str:
    """What is wrong with the table after a completion was accepted and committed."""
    number, before, after = call["args"][0][0], by_id(this["before"]), by_id(this["after"])
    if after.get(number, ["", ""])[1] != DONE:
        return f"then the table held {shown(after.get(number))}."
    if others := [each for each in before if each != number and after.get(each) != before[each]]:
        return f"and another task has changed: {shown(after.get(others[0]))}."
    return ""


def _rows(rows: list[Any]) -> str:
    mine = [row for row in rows if row[0] != 95]
    return "; ".join(shown(row) for row in mine or rows)


def play_race(complete: Function, setting: Setting) -> Facts:
    (one,) = numbers(setting.draw, 1)
    v = setting.draw.randrange(1, 40)

    def rival(desk: Desk) -> None:
        desk.reap()
        desk.claim(500.0)

    work = {"A": lambda desk: desk.call(complete, (one, v), "A"), "B": rival}
    return {"rounds": all_orders(setting, lambda now: [(one, RUNNING, "A", v, now - 1.0)], work, 2)}, None


def judge_race(run: Run) -> Remark:
    accepted = refused = 0
    for this in run.facts["rounds"]:
        (call,), (reaped, claimed) = this["calls"], this["changed"]["B"]
        if remark := odd(call, this):
            return remark
        if call["open"] and call["value"]:
            return not_tested(LOCKED)
        (row,) = this["after"]
        if call["value"] and claimed:
            return fail(f"{told(call)} gave True, and B was given the task as well.{in_order(this)}")
        if not call["value"] and row[1] == DONE:
            return fail(f"{told(call)} gave False; in the table: {shown(row)}.{in_order(this)}")
        if call["value"] and row[1] != DONE:
            return fail(f"{told(call)} gave True; in the table: {shown(row)}.{in_order(this)}")
        accepted, refused = accepted + bool(call["value"]), refused + bool(reaped and claimed)
    return PASS if accepted and refused else not_tested("in no order was A's completion accepted.")


# -- transaction closed ----------------------------------------------------------------------------------------------


def judge_closed(run: Run) -> Remark:
    accepted = 0
    for this, (story, right) in zip(run.facts["rounds"], run.facts["about"], strict=True):
        (call,) = this["calls"]
        if call["open"]:
            how = f"raised {call['raised']}" if call["raised"] else f"gave {call['shown']}"
            return fail(
                f"{story}: {told(call)} {how} and left a transaction open, so nothing is committed and the other "
                f"workers cannot write.{in_order(this)}"
            )
        if remark := odd(call, this):
            return remark
        accepted += right and bool(call["value"]) and not _not_done(call, this)
    return PASS if accepted else not_tested("complete made no task DONE, so it had nothing to commit.")


COMPLETES = {
    "zombie refused": Trial("complete", play_cases, judge_cases, ("cases", "race")),
    "repeated version": Trial("complete", play_cases, judge_cases, ("cases",)),
    "transaction closed": Trial("complete", play_cases, judge_closed, ("cases",)),
}
