"""The checks of `take_over` that ask what the new holder has in hand: an epoch of its own, and the point at which the
task stands. Races are played in all orders of the statements where there are few, else in many that are drawn."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Mapping
from typing import Any

from ...sim import World
from ..sqlstage import Statement
from ..trial import PASS, Function, Remark, Run, Setting, Trial, error, fail, not_tested
from .bench import Desk, Facts, Round, all_orders, play
from .cases import cast
from .look import differences, in_order, row_of, shown, with_row
from .takes import NOBODY, TAKES, gave, odd, of_epoch, take, told, took

ENDS = ("COMMIT", "END", "ROLLBACK", "BEGIN", "SAVEPOINT", "RELEASE")
Play = Callable[[Function, Setting], Facts]
Judge = Callable[[Run], Remark]


# -- new epoch -------------------------------------------------------------------------------------------------------


def play_epoch(take_over: Function, setting: Setting) -> Facts:
    """One after the other, the second time by the same worker."""
    draw = setting.draw
    task, mine, rest, ttl = cast(draw)

    def work(desk: Desk) -> None:
        take(desk, take_over, "B's lease is over", TAKES)
        time.sleep(1.5 * ttl)
        take(desk, take_over, "A's own lease is over, and A takes the task over once more", TAKES)
        time.sleep(1.5 * ttl)
        desk.outside("UPDATE progress SET epoch = ?, worker = 'D' WHERE task = ?", mine[1] + 900, task)
        take(desk, take_over, "Many others have had it, and the last one's lease is over", TAKES)

    return {"rounds": play(setting, [Round((*rest, mine))], {"A": work}, task, ttl), "ttl": ttl}, None


def judge_epoch(run: Run) -> Remark:
    (this,) = run.facts["rounds"]
    for call in this["calls"]:
        if remark := odd(call, this):
            return remark
        if remark := of_epoch(call):
            return remark
    return PASS if all(map(took, this["calls"])) else not_tested(NOBODY)


def play_breaks(take_over: Function, setting: Setting) -> Facts:
    """The database raises, at each statement in its turn but those that begin or end a transaction."""
    task, mine, rest, ttl = cast(setting.draw)
    at = [0]

    def strike(world: World, statement: Statement) -> None:
        if statement.nth == at[0] and not statement.text.lstrip().upper().startswith(ENDS):
            at[0] = 0
            raise sqlite3.OperationalError("disk I/O error")

    def work(desk: Desk) -> None:
        first, n = desk.db.count, 0
        take(desk, take_over, "All is well", TAKES)
        count = desk.db.count - first
        for n in range(1, min(count, 12) + 1):
            time.sleep(1.5 * ttl)
            at[0] = desk.db.count + n
            take(desk, take_over, f"The database raises in statement {n}", "raises")
            desk.calls[-1]["struck"] = at[0] == 0

    return {"rounds": play(setting, [Round((*rest, mine))], {"A": work}, task, ttl, strike), "ttl": ttl}, None


def judge_breaks(run: Run) -> Remark:
    (this,) = run.facts["rounds"]
    well, *others = this["calls"]
    struck = 0
    if remark := odd(well, this):
        return remark
    if not took(well):
        return not_tested(NOBODY)
    for call in others:
        said = f"{call['about']}: {told(call)} raised {call['raised']}"
        if not call["raised"]:
            if call["struck"] and not took(call):
                return fail(f"{call['about']}: {told(call)} {gave(call)}. The error was «disk I/O error».")
            continue
        if "disk I/O" not in call["whole"]:
            return error(f"{call['about']}: {told(call)} raised {call['message']}; the error was «disk I/O error».")
        if remark := _left_behind(call, said):
            return remark
        struck += 1
    return PASS if struck else not_tested("take_over met no error of the database.")


def _left_behind(call: Mapping[str, Any], said: str) -> Remark | None:
    """What is wrong with the database after an error: an epoch that is raised in vain does no harm."""
    task = call["args"][1]
    before, after = row_of(call["before"], task), row_of(call["tables"], task)
    if call["open"]:
        return fail(f"{said}, and left a transaction open, so that nobody else can write.")
    if before is None or after is None or after[3:] != before[3:]:
        return fail(f"{said}; then there is {shown(after)}, before it there was {shown(before)}.")
    return None


def play_two(take_over: Function, setting: Setting) -> Facts:
    """The lock's server forgets what it has granted, so A and B are both granted the lock."""
    task, mine, rest, _ = cast(setting.draw)

    def work(desk: Desk) -> None:
        desk.lock.forgets = True
        take(desk, take_over, "The lock's server has forgotten a grant, so A and B are both at it", TAKES)

    return {"rounds": all_orders(setting, (*rest, (*mine[:2], "D", *mine[3:])), {"A": work, "B": work}, task)}, None


def judge_two(run: Run) -> Remark:
    for this in run.facts["rounds"]:
        epochs: dict[Any, str] = {}
        for call in this["calls"]:
            if remark := odd(call, this):
                return remark
            said = f"{call['about']}: {told(call)} {gave(call)}"
            if not call["got"]:
                return fail(f"{said}.{in_order(this)}")
            if call["open"]:
                return not_tested("take_over left a transaction open, so it took nothing over.")
            if other := epochs.get(call["got"]["epoch"]):
                return fail(f"{said}, and {other} was given the same epoch.{in_order(this)}")
            epochs[call["got"]["epoch"]] = call["worker"]
        task = this["calls"][0]["args"][1]
        before, after = row_of(this["before"], task), row_of(this["after"], task)
        assert before is not None
        last = before[1] + len(epochs)
        if sorted(epochs) != list(range(before[1] + 1, last + 1)):
            return fail(f"The epochs given are {sorted(epochs)}; at first there was {shown(before)}.{in_order(this)}")
        if after is None or after[1:3] != [last, epochs[last]]:
            return fail(f"{epochs[last]} was given epoch {last}; at the end there is {shown(after)}.{in_order(this)}")
    return PASS


# -- resume point ----------------------------------------------------------------------------------------------------


def play_resume(take_over: Function, setting: Setting) -> Facts:
    """Workers die at all stages of the task, some of them twice before a step was finished."""
    draw = setting.draw
    task, mine, rest, ttl = cast(draw)
    steps = [0, 1, mine[3], draw.randrange(20, 400)]
    texts = ["", "0", '{"page": 17}', f"Größe {draw.randrange(99)}", "锁" * 3000]
    draw.shuffle(texts)

    def work(desk: Desk) -> None:
        for step, data in zip(steps, texts, strict=False):
            desk.outside("UPDATE progress SET step = ?, data = ? WHERE task = ?", step, data, task)
            desk.outside("INSERT INTO sent VALUES (NULL, ?)", f"step {step}")
            for about in ("its worker has died", "and the next one died before it finished a step"):
                take(desk, take_over, f"The task is at step {step}, {about}", TAKES)
                time.sleep(1.5 * ttl)

    return {"rounds": play(setting, [Round((*rest, mine))], {"A": work}, task, ttl), "ttl": ttl}, None


def judge_resume(run: Run) -> Remark:
    (this,) = run.facts["rounds"]
    for call in this["calls"]:
        if remark := odd(call, this):
            return remark
        task = call["args"][1]
        before, after, got = row_of(call["before"], task), row_of(call["tables"], task), call["got"]
        said = f"{call['about']}: {told(call)} {gave(call)}"
        if not got:
            return fail(f"{said}. Nobody held the lock, and in the table there was: {shown(before)}.")
        assert before is not None
        if [got["step"], got["data"]] != before[3:]:
            return fail(f"{said}; in the table there was: {shown(before)}.")
        if after is None or after[3:] != before[3:]:
            return fail(f"{said}; then there is {shown(after)}, before it there was {shown(before)}.")
        if changed := differences(with_row(call["before"], after), call["tables"]):
            return fail(f"{said}, and something else has changed: {changed}.")
    return PASS if all(map(took, this["calls"])) else not_tested(NOBODY)


def play_zombie(take_over: Function, setting: Setting) -> Facts:
    """The old holder's lease is over, but it does not know, and finishes a step while A is at it."""
    task, mine, rest, _ = cast(setting.draw)
    data = f"order-{setting.draw.randrange(10_000, 99_999)}"
    about = "B's lease is over, but B has not noticed, and is finishing a step"
    work: Mapping[str, Callable[[Desk], object]] = {
        "A": lambda desk: take(desk, take_over, about, TAKES),
        "B": lambda desk: desk.finish(mine, data),
    }
    return {"rounds": all_orders(setting, (*rest, mine), work, task, 3), "data": data}, None


def judge_zombie(run: Run) -> Remark:
    finished = refused = 0
    for this in run.facts["rounds"]:
        (call,), changed = this["calls"], this["rivals"]["B"]["changed"]
        if remark := odd(call, this):
            return remark
        if call["open"]:
            return not_tested("take_over left a transaction open, so it took nothing over.")
        if remark := _resumed(call, this, run.facts["data"]):
            return remark
        finished, refused = finished + sum(changed), refused + (not sum(changed))
    return PASS if finished and refused else not_tested("in no order was B's step refused.")


def _resumed(call: Mapping[str, Any], this: Mapping[str, Any], data: str) -> Remark | None:
    task, order = call["args"][1], in_order(this)
    before, after, got = row_of(this["before"], task), row_of(this["after"], task), call["got"]
    said = f"{call['about']}: {told(call)} {gave(call)}"
    assert before is not None
    step = before[3] + sum(this["rivals"]["B"]["changed"])
    if not got:
        return fail(f"{said}.{order}")
    if after is None or after[3:] != [step, data if step > before[3] else before[4]]:
        done = "finished that step" if step > before[3] else "was refused"
        return fail(f"{said}. B {done}; at the end there is {shown(after)}, at first there was {shown(before)}.{order}")
    if [got["step"], got["data"]] != after[3:]:
        return fail(f"{said}; at the end there is {shown(after)}.{order}")
    return None


def _by_variant(plays: Mapping[str, Play], judges: Mapping[str, Judge]) -> Trial:
    return Trial(
        "take_over",
        lambda take_over, setting: plays[setting.variant](take_over, setting),
        lambda run: judges[run.setting.variant](run),
        tuple(plays),
    )


HOLDS = {
    "new epoch": _by_variant(
        {"plain": play_epoch, "race": play_two, "breaks": play_breaks},
        {"plain": judge_epoch, "race": judge_two, "breaks": judge_breaks},
    ),
    "resume point": _by_variant(
        {"plain": play_resume, "race": play_zombie}, {"plain": judge_resume, "race": judge_zombie}
    ),
}
