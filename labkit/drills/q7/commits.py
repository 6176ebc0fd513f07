"""The checks of `commit_step` in which one call follows the other. A judge says PASS only where a step was in fact
committed: who always says None has let no zombie in."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...locks import Lease
from ..calls import unexpected
from ..trial import PASS, Function, Remark, Run, Setting, error, fail, not_tested
from .bench import Desk, Facts, Round, Row, Tables, play
from .cases import LIMIT, NO_TABLE, RAISES, SCRIPTS, TOO_FEW, TWICE, cast
from .given import progress
from .look import differences, in_race, row_of, shown, shown_progress, with_row, written

NEVER = "commit_step committed no step, not even the holder's own."


def lease(task: str, over: float = -30.0) -> Lease:
    """Of the task's lock, ended so many seconds ago."""
    return Lease(task, "5f1c0ffee5f1c0ffee5f1c0ffee5f1c0", None, time.monotonic() - over)


def made(function: Function, row: Row, over: float = -30.0) -> Any:
    """A Progress as `take_over` would have given it when the table held this row."""
    task, epoch, worker, step, data = row
    fields = {"task": task, "worker": worker, "epoch": epoch, "step": step, "data": data}
    return progress(function, **fields, lease=lease(task, over))


def told(call: Mapping[str, Any]) -> str:
    given, data, statements = call["args"]
    text = f"{data!r}" if len(data) <= 20 else f"({len(data)} characters)"
    return f"commit_step(db, Progress({shown_progress(given)}), {text}, [{len(statements)} statement(s)])"


def gave(call: Mapping[str, Any]) -> str:
    if call["raised"]:
        return f"raised {call['raised']}"
    return f"gave a Progress with {shown_progress(call['got'])}" if call["got"] else f"gave {call['shown']}"


def raised(call: Mapping[str, Any], this: Mapping[str, Any]) -> Remark | None:
    """A remark on a call that raised where no statement does, or gave what is neither None nor a Progress."""
    if remark := unexpected(call, told(call)):
        return error(f"{call['about']}: {remark.message}{in_race(this)}")
    if not call["got"] and call["shown"] != "None":
        return fail(f"{call['about']}: {told(call)} gave {call['shown']}, which is neither None nor a Progress.")
    return None


# -- the scripts ---------------------------------------------------------------------------------------------------


def play_script(commit_step: Function, setting: Setting) -> Facts:
    task, row, rest, _ = cast(setting.draw)
    mine = (task, row[1], "A", *row[3:])
    cases = SCRIPTS[setting.check](setting.draw, mine)

    def work(desk: Desk) -> None:
        last: Any = None
        for case in cases:
            if case.row is not None:
                desk.outside("DELETE FROM progress WHERE task = ?", task)
            if isinstance(case.row, tuple):
                desk.outside("INSERT INTO progress VALUES (?, ?, ?, ?, ?)", *case.row)
            given = made(commit_step, case.progress, case.over) if case.progress else last
            if given is None:
                return  # the step before was not committed, and the judge says so
            last = desk.call(commit_step, given, case.data, list(case.statements), about=case.about, right=case.right)

    return {"rounds": play(setting, [Round((*rest, mine))], {"A": work}, task)}, None


# -- the judges ------------------------------------------------------------------------------------------------------


def judge_script(run: Run) -> Remark:
    (this,) = run.facts["rounds"]
    committed = 0
    for call in this["calls"]:
        said = f"{call['about']}: {told(call)} {gave(call)}"
        judge = JUDGES[run.setting.check]
        if remark := judge(call, this, said):
            return remark
        committed += complete(call)
    return PASS if committed else not_tested(NEVER)


def _refusals(call: Mapping[str, Any], this: Mapping[str, Any], said: str) -> Remark | None:
    """Whether it committed where it should, and only there; how well is another check's business."""
    if remark := raised(call, this):
        return remark
    if not call["right"]:
        return refusal(call, said)
    if not call["got"]:
        return of_step(call, said)
    return None if complete(call) else not_tested(NEVER)


def _steps(call: Mapping[str, Any], this: Mapping[str, Any], said: str) -> Remark | None:
    return raised(call, this) or of_step(call, said)


def refusal(call: Mapping[str, Any], said: str) -> Remark | None:
    """What is wrong with a call that must not commit anything."""
    if call["got"]:
        return fail(f"{said}. In the table there was: {shown(row_of(call['before'], call['args'][0]['task']))}.")
    if changed := differences(call["before"], call["tables"]):
        return fail(f"{said}, and yet it changed something: {changed}.")
    return None


def of_step(call: Mapping[str, Any], said: str) -> Remark | None:
    """What is wrong with a call that must commit its step."""
    given, got = call["args"][0], call["got"]
    if not got:
        return fail(f"{said}. In the table there was: {shown(row_of(call['before'], given['task']))}.")
    if wrong := differences(wanted(call), call["tables"]):
        return fail(f"{said}; then there was {wrong.replace(', before ', ' instead of ')}.")
    right = {**given, "step": given["step"] + 1, "data": call["args"][1]}
    if differing := [name for name in right if got[name] != right[name]]:
        return fail(f"{said}; its {differing[0]} is {got[differing[0]]!r} instead of {right[differing[0]]!r}.")
    return None if call["same_lease"] else fail(f"{said}; its lease is not that of the Progress it was given.")


def wanted(call: Mapping[str, Any]) -> Tables:
    """The tables as the call has to leave them if it commits its step."""
    given, data, statements = call["args"]
    row = [given["task"], given["epoch"], given["worker"], given["step"] + 1, data]
    return written(with_row(call["before"], row), statements)


def complete(call: Mapping[str, Any]) -> bool:
    sound = call["right"] and len(call["args"][1].encode()) <= LIMIT and not any(map(_kind, call["args"][2]))
    return bool(sound and call["got"] and not differences(wanted(call), call["tables"]))


def _errors(call: Mapping[str, Any], this: Mapping[str, Any], said: str) -> Remark | None:
    kinds = [kind for kind in map(_kind, call["args"][2]) if kind]
    if not kinds:
        return raised(call, this) or (None if complete(call) else not_tested(NEVER))
    if changed := differences(call["before"], call["tables"]):
        return fail(f"{said}, and something has stayed: {changed}.")
    if call["raised"] != kinds[0]:
        return fail(f"{said}, though that statement raises {kinds[0]}.")
    return fail(f"{said}, and the transaction is still open.") if call["open"] else None


def _kind(statement: Sequence[Any]) -> str:
    """What this statement raises; empty if it is sound."""
    bad = ([text, list(values)] for text, values in (TWICE, NO_TABLE, TOO_FEW))
    return RAISES[statement[0]] if list(statement) in bad else ""


def _limit(call: Mapping[str, Any], this: Mapping[str, Any], said: str) -> Remark | None:
    size = len(call["args"][1].encode())
    if size <= LIMIT:
        if call["refused"]:
            return fail(f"{call['about']}: {told(call)} was refused: {call['whole'][:120]}")
        return raised(call, this) or (None if complete(call) else not_tested(NEVER))
    said = f"{call['about']}: {told(call)} {gave(call)}"
    if changed := differences(call["before"], call["tables"]):
        return fail(f"{said}, and it changed something: {changed}.")
    if not call["refused"]:
        return fail(f"{said}.")
    if call["statements"]:
        return fail(f"{said}, after {call['statements']} statement(s) to the database.")
    said_numbers = numbers(call["whole"])
    if missing := [number for number in (size, LIMIT) if number not in said_numbers]:
        return fail(f"{said}, and its message does not name {missing[0]}: «{call['whole'][:120]}».")
    return None


def numbers(text: str) -> set[int]:
    """The whole numbers in a text, also those written like 10,000 or 10 000 or 10_000."""
    together = re.sub(r"(?<=\d)[,_'\u202f\u00a0 ](?=\d{3}(?!\d))", "", text)
    return {int(each) for form in (text, together) for each in re.findall(r"[0-9]+", form)}


def _closed(call: Mapping[str, Any], this: Mapping[str, Any], said: str) -> Remark | None:
    if call["open"]:
        return fail(f"{said}, and left a transaction open: nothing is committed, and nobody else can write.")
    return None


JUDGES: Mapping[str, Callable[[Mapping[str, Any], Mapping[str, Any], str], Remark | None]] = {
    "one transaction": _steps,
    "zombie refused": _refusals,
    "effect once": _refusals,
    "errors pass": _errors,
    "data limit": _limit,
    "transaction closed": _closed,
}
