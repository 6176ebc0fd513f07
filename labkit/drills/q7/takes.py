"""The checks of `take_over` that ask whether it may take over, and what all its checks ask of a call. A judge says PASS
only where a task was in fact taken over: who always says None has robbed nobody."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from ..calls import unexpected
from ..trial import PASS, Function, Remark, Run, Setting, Trial, error, fail, not_tested
from .bench import Desk, Facts, Round, play
from .cases import cast
from .look import differences, in_race, row_of, shown, shown_progress, with_row

NOBODY = "take_over took no task over, not even where the lock was free."
TAKES, NONE, REDIS = "takes", "none", "redis"  # what is right: a Progress, None, or the lock's own error
AT_ONCE = 10  # the answer may take TTL / 10 where somebody else holds the lock


def told(call: Mapping[str, Any]) -> str:
    _, task, worker = call["args"]
    return f"take_over(db, lock, {task!r}, {worker!r})"


def gave(call: Mapping[str, Any]) -> str:
    """What came of a call, in words."""
    if call["got"]:
        return f"gave a Progress with {shown_progress(call['got'])}"
    return f"gave {call['shown']}"


def odd(call: Mapping[str, Any], this: Mapping[str, Any]) -> Remark | None:
    """A remark on a call that raised, or gave what is neither None nor a Progress."""
    if remark := unexpected(call, told(call)):
        return error(f"{call['about']}: {remark.message}{in_race(this)}")
    if call["got"] is None and call["shown"] != "None":
        return fail(f"{call['about']}: {told(call)} gave {call['shown']}, which is neither None nor a Progress.")
    if call["got"] and (gone := [name for name, value in call["got"].items() if value == "?"]):
        return fail(f"{call['about']}: what {told(call)} gave has no {gone[0]}, or one that cannot be used.")
    return None


# -- live holder -----------------------------------------------------------------------------------------------------


def play_live(take_over: Function, setting: Setting) -> Facts:
    """far: nearly all is done, and it takes long.  fresh: nothing is.  silent: and Redis does not answer."""
    task, mine, rest, ttl = cast(setting.draw)
    step, done = {"far": (17, "17 of its 20 steps are done"), "silent": (3, "3 of its 20 steps are done")}.get(
        setting.variant, (0, "it has only just begun")
    )
    start = (*rest, (*mine[:3], step, f"step {step} of 20")) if step else rest

    def work(desk: Desk) -> None:
        held = desk.other.acquire(0)
        if setting.variant == "silent":
            desk.me.world.network.cut("A", "redis")
            take(desk, take_over, f"B holds the lock, {done}, and Redis does not answer", REDIS)
            desk.me.world.network.heal("A", "redis")
        else:
            take(desk, take_over, f"B holds the lock, and {done}", NONE)
        time.sleep(2 * ttl)
        take(desk, take_over, f"B has been renewing the lock for {2 * ttl:.0f} s, and is in a long step", NONE)
        desk.outside("INSERT INTO progress VALUES (?, 1, 'B', 1, 'one') ON CONFLICT DO NOTHING", task)
        desk.other.release(held)
        take(desk, take_over, "B has finished a step, and released the lock", TAKES)

    return {"rounds": play(setting, [Round(start)], {"A": work}, task, ttl), "ttl": ttl}, None


def take(desk: Desk, take_over: Function, about: str, right: str) -> Any:
    return desk.call(take_over, desk.lock, desk.lock.name, desk.me.name, about=about, right=right)


def judge_none(run: Run) -> Remark:
    """For plays in which nothing may be taken over until the last call."""
    (this,) = run.facts["rounds"]
    for call in this["calls"]:
        if call["right"] == REDIS:
            remark = _of_redis(call)
        elif remark := odd(call, this):
            return remark
        else:
            remark = _of_none(call, run.facts["ttl"], run.setting.check) if call["right"] == NONE else None
        if remark:
            return remark
    return PASS if this["calls"][-1]["got"] else not_tested(NOBODY)


def _of_redis(call: Mapping[str, Any]) -> Remark | None:
    said = f"{call['about']}: {told(call)}"
    if call["raised"] and not call["redis"]:
        return error(f"{said} raised {call['message']}.")
    if not call["raised"]:
        return fail(f"{said} {gave(call)}, as if it knew whether somebody holds the lock.")
    return untouched(call, f"{said} raised {call['raised']}")


def _of_none(call: Mapping[str, Any], ttl: float, check: str) -> Remark | None:
    said = f"{call['about']}: {told(call)} {gave(call)}"
    if call["got"]:
        return fail(f"{said}. In the table there was: {shown(row_of(call['before'], call['args'][1]))}.")
    if remark := untouched(call, said):
        return remark
    seconds = call["ended"] - call["begun"]
    if check == "live holder" and seconds > ttl / AT_ONCE:
        return fail(f"{said} after {seconds:.3g} s; the lock's TTL is {ttl:g} s.")
    return None


def untouched(call: Mapping[str, Any], said: str) -> Remark | None:
    if changed := differences(call["before"], call["tables"]):
        return fail(f"{said}, and yet it changed something: {changed}.")
    if call["open"]:
        return fail(f"{said}, and left a transaction open, so that nobody else can write.")
    return None


def took(call: Mapping[str, Any]) -> bool:
    """Whether this call took the task over, as the table has it."""
    row = row_of(call["tables"], call["args"][1])
    return bool(call["got"] and row and row[2] == call["args"][2])


# -- late take-over --------------------------------------------------------------------------------------------------


def play_late(take_over: Function, setting: Setting) -> Facts:
    """late: A stands still between the grant and its arrival.  in time: it does, but not for long enough."""
    draw = setting.draw
    task, mine, rest, ttl = cast(draw)
    in_time = setting.variant == "in time"
    still = round(ttl * draw.uniform(0.55, 0.85) if in_time else ttl * draw.uniform(1.02, 2.0), 2)
    about = f"The grant reaches A {still:g} s after it was asked for, of a TTL of {ttl:g} s"

    def work(desk: Desk) -> None:
        desk.lock.stands_still = still
        take(desk, take_over, about, TAKES if in_time else NONE)
        desk.lock.stands_still = 0.0
        time.sleep(2 * ttl)
        take(desk, take_over, "Later the lock is free, and the grant comes at once", TAKES)

    return {"rounds": play(setting, [Round((*rest, mine))], {"A": work}, task, ttl), "ttl": ttl}, None


def judge_late(run: Run) -> Remark:
    (this,) = run.facts["rounds"]
    first = this["calls"][0]
    if first["right"] == TAKES:
        if remark := odd(first, this):
            return remark
        if not first["got"]:
            return fail(f"{first['about']}: {told(first)} {gave(first)}, though the deadline was still ahead.")
    return judge_none(run)


# -- first time ------------------------------------------------------------------------------------------------------


def play_first(take_over: Function, setting: Setting) -> Facts:
    task, _, rest, ttl = cast(setting.draw)
    work = {"A": lambda desk: take(desk, take_over, "Nobody has ever worked on this task", TAKES)}
    return {"rounds": play(setting, [Round(rest)], work, task, ttl), "ttl": ttl}, None


def judge_first(run: Run) -> Remark:
    (this,) = run.facts["rounds"]
    (call,) = this["calls"]
    if remark := odd(call, this):
        return remark
    if remark := of_epoch(call):
        return remark
    if (call["got"]["step"], call["got"]["data"]) != (0, ""):
        return fail(f"{call['about']}: {told(call)} {gave(call)}.")
    row = row_of(call["tables"], call["args"][1])
    if row is None or row[3:] != [0, ""]:
        return fail(f"{call['about']}: {told(call)} {gave(call)}; then there is {shown(row)}.")
    return PASS


def of_epoch(call: Mapping[str, Any]) -> Remark | None:
    """What is wrong with epoch, worker and lease after a call that should take over."""
    task, worker = call["args"][1:]
    before, after, got = row_of(call["before"], task), row_of(call["tables"], task), call["got"]
    said = f"{call['about']}: {told(call)} {gave(call)}"
    epoch = before[1] + 1 if before else 1
    if not got:
        return fail(f"{said}. Nobody held the lock, and in the table there was: {shown(before)}.")
    if call["open"]:
        return fail(f"{said}, and left a transaction open: for all others there is still {shown(after)}.")
    if after is None or after[1:3] != [epoch, worker]:
        return fail(f"{said}; then there is {shown(after)}, before it there was {shown(before)}.")
    if (got["task"], got["epoch"], got["worker"]) != (task, epoch, worker):
        return fail(f"{said}, of the task {got['task']!r}; in the table there is {shown(after)}.")
    if not call["same_lease"]:
        return fail(f"{said}; its lease is not the one that the lock has granted.")
    if changed := differences(with_row(call["before"], after), call["tables"]):
        return fail(f"{said}, and something else has changed: {changed}.")
    return None


MAY_TAKE = {
    "live holder": Trial("take_over", play_live, judge_none, ("far", "fresh", "silent")),
    "late take-over": Trial("take_over", play_late, judge_late, ("late", "in time")),
    "first time": Trial("take_over", play_first, judge_first),
}
