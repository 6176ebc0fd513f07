"""The checks of `guarded` in which one call follows the other. A judge says PASS only where a holder's own writes were
accepted: who always answers False has refused nobody."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..calls import unexpected
from ..trial import PASS, Function, Remark, Run, Setting, Trial, error, fail, not_tested
from .bench import Desk, Facts, Round, play
from .cast import Cast, shown_pair
from .look import differences, guard_of, in_order, written
from .scripts import RAISES, SCRIPTS

HOLDER_TOO = "guarded refused the holder as well, or did not write what it should."


def told(call: Mapping[str, Any]) -> str:
    resource, token, owner, statements = call["args"]
    return f"guarded(db, {resource!r}, {token}, {owner!r}, [{len(statements)} statement(s)])"


def play_script(guarded: Function, setting: Setting) -> Facts:
    guard, cases = SCRIPTS[setting.check, setting.variant](Cast(setting.draw))

    def work(desk: Desk) -> None:
        for case in cases:
            for resource, pair in case.sets.items():
                desk.outside("DELETE FROM guard WHERE resource = ?", resource)
                desk.outside("INSERT INTO guard VALUES (?, ?, ?)", resource, *pair)
            desk.call(guarded, case.resource, *case.pair, list(case.statements), about=case.about)

    facts = {"rounds": play(setting, [Round(guard)], {"A": work})}
    return facts | {"sets": [{name: list(pair) for name, pair in case.sets.items()} for case in cases]}, None


# -- the judges ------------------------------------------------------------------------------------------------------


def judge_script(run: Run) -> Remark:
    (this,) = run.facts["rounds"]
    accepted, before = 0, this["before"]
    for call, sets in zip(this["calls"], run.facts["sets"], strict=True):
        before = {**before, "guard": _with(before["guard"], sets)}
        if remark := _judged(call, before, this, run.setting):
            return remark
        accepted, before = accepted + bool(call["value"]), call["tables"]
    return PASS if accepted else not_tested(HOLDER_TOO)


def _judged(call: Mapping[str, Any], before: Any, this: Mapping[str, Any], setting: Setting) -> Remark | None:
    resource, token, owner, statements = call["args"]
    kinds = [kind for text, _ in statements if (kind := RAISES.get(text))]
    said = f"{call['about']}: {told(call)} gave {call['shown']}"
    if guard_of(before, resource) != [token, owner]:
        return _refused(call, before, said, this, setting.check == "late writer")
    if kinds:
        return _raised(call, before, kinds[0]) if setting.check == "all or nothing" else None
    if remark := raised(call, this):
        return remark
    wrong = differences(written(before, statements), call["tables"])
    own = setting.check == "own second write"
    if not call["value"] and (own or setting.variant == "resources"):
        rows = ", ".join(f"({name!r}, {number}, {whose!r})" for name, number, whose in before["guard"])
        return fail(f"{said}. The guard held {rows}.")
    if own and call["value"] is not True:
        return fail(f"{said}, which is neither True nor False.")
    if own and wrong:
        return fail(f"{said}; then there was {_instead(wrong)}.")
    return not_tested(HOLDER_TOO) if wrong or not call["value"] else None


def _refused(call: Mapping[str, Any], before: Any, said: str, this: Mapping[str, Any], strict: bool) -> Remark | None:
    held = guard_of(before, call["args"][0])
    guard = f"The guard held {shown_pair(held) if held else 'no row for it'}."
    if call["raised"] and any(text in RAISES for text, _ in call["args"][3]):
        return fail(f"{call['about']}: {told(call)} raised {call['raised']}, and did not return. {guard}")
    if remark := raised(call, this):
        return remark
    if call["value"]:
        return fail(f"{said}. {guard}")
    if changed := differences(before, call["tables"]):
        return fail(f"{said}, and yet it changed something: {changed}.")
    if strict and call["shown"] != "False":
        return fail(f"{said}, which is neither True nor False.")
    return None


def _raised(call: Mapping[str, Any], before: Any, kinds: tuple[str, ...]) -> Remark | None:
    what = f"raised {call['raised']}" if call["raised"] else f"gave {call['shown']}"
    said = f"{call['about']}: {told(call)} {what}"
    if changed := differences(before, call["tables"]):
        return fail(f"{said}, and something has stayed: {changed}.")
    if call["raised"] not in kinds:
        return fail(f"{said}, though that statement raises {kinds[0]}.")
    if call["open"]:
        return fail(f"{said}, and the transaction is still open with what it has written.")
    return None


def raised(call: Mapping[str, Any], this: Mapping[str, Any]) -> Remark | None:
    """A remark on a call that raised where no statement does."""
    if remark := unexpected(call, told(call)):
        return error(f"{remark.message}{in_order(this)}")
    return None


def judge_closed(run: Run) -> Remark:
    (this,) = run.facts["rounds"]
    accepted = 0
    for call in this["calls"]:
        if call["open"]:
            how = f"raised {call['raised']}" if call["raised"] else f"gave {call['shown']}"
            return fail(
                f"{call['about']}: {told(call)} {how} and left a transaction open, so nothing is committed and nobody "
                f"else can write.{in_order(this)}"
            )
        accepted += call["value"] is True
    return PASS if accepted else not_tested("guarded accepted nobody's statements, so it had nothing to commit.")


def _with(rows: list[list[Any]], sets: Mapping[str, Any]) -> list[list[Any]]:
    return sorted([*(row for row in rows if row[0] not in sets), *([name, *pair] for name, pair in sets.items())])


def _instead(differing: str) -> str:
    """`differences` between what should be and what is, in the reader's words."""
    return differing.replace(", before ", " instead of ")


def _trial(check: str, judge: Callable[[Run], Remark] = judge_script) -> Trial:
    return Trial("guarded", play_script, judge, tuple(variant for name, variant in SCRIPTS if name == check))


WRITES = {name: _trial(name) for name, _ in SCRIPTS if name != "transaction closed"}
CLOSED = {"transaction closed": _trial("transaction closed", judge_closed)}
