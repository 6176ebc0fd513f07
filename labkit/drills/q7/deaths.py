"""The checks of `commit_step` in which others come in between its statements, or its worker dies there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...sim import World
from ..sqlstage import Statement
from ..trial import PASS, Function, Remark, Run, Setting, Trial, fail, not_tested
from .bench import Desk, Effect, Facts, Round, Row, all_orders, play
from .cases import cast, sends, takes_out
from .commits import NEVER, gave, judge_script, made, of_step, play_script, raised, told, wanted
from .look import differences, in_order, row_of, shown

Work = Callable[[Desk], object]


def scene(setting: Setting) -> tuple[str, Row, tuple[Row, ...], tuple[Effect, ...]]:
    """A task, its row, which is A's, those of others, and the effects of a step; for races one is enough."""
    task, row, rest, _ = cast(setting.draw)
    return task, (task, row[1], "A", *row[3:]), rest, (sends(setting.draw), takes_out(setting.draw))


def commits(commit_step: Function, mine: Row, effects: tuple[Effect, ...], about: str) -> Work:
    def work(desk: Desk) -> None:
        desk.call(commit_step, made(commit_step, mine), "next", list(effects), about=about, right=True)

    return work


# -- one transaction -------------------------------------------------------------------------------------------------


def play_dies(commit_step: Function, setting: Setting) -> Facts:
    """The worker dies before its first statement, its second, and so on."""
    task, mine, rest, effects = scene(setting)
    work = {"A": commits(commit_step, mine, effects, "A holds the task")}
    rounds = play(setting, [Round((*rest, mine))], work, task)
    for nth in range(1, min(len(rounds[0]["log"]), 12) + 1):
        rounds += play(setting, [Round((*rest, mine))], work, task, strike=_dies_before(nth))
    return {"rounds": rounds, "effects": [list(each) for each in effects]}, None


def _dies_before(nth: int) -> Callable[[World, Statement], None]:
    def strike(world: World, statement: Statement) -> None:
        if statement.nth == nth:
            world.crash(statement.worker)

    return strike


def judge_dies(run: Run) -> Remark:
    alone, *deaths = run.facts["rounds"]
    (call,) = alone["calls"]
    if remark := raised(call, alone):
        return remark
    if remark := of_step(call, f"{call['about']}: {told(call)} {gave(call)}"):
        return remark
    for nth, this in enumerate(deaths, 1):
        if this["after"] in (this["before"], wanted(call)):
            continue
        changed = differences(this["before"], this["after"])
        left = differences(this["after"], wanted(call)).replace(", before ", " instead of ")
        return fail(
            f"A died before statement {nth} of commit_step. What it left is half a step: {changed}; a whole one would "
            f"have {left}.{in_order(this)}"
        )
    return PASS if deaths else not_tested(NEVER)


# -- zombie refused --------------------------------------------------------------------------------------------------


def play_race(commit_step: Function, setting: Setting) -> Facts:
    """B takes the task over while A finishes a step, in all orders."""
    task, mine, rest, effects = scene(setting)
    work: Mapping[str, Work] = {
        "A": commits(commit_step, mine, effects[:1], "B is taking the task over"),
        "B": lambda desk: desk.succeed(task),
    }
    return {"rounds": all_orders(setting, (*rest, mine), work, task, 3)}, None


def judge_race(run: Run) -> Remark:
    accepted = refused = 0
    for this in run.facts["rounds"]:
        (call,) = this["calls"]
        if remark := raised(call, this):
            return remark
        if call["open"] and call["got"]:
            return not_tested("commit_step left a transaction open, so what it did was not committed.")
        if remark := _overtaken(call, this):
            return remark
        accepted, refused = accepted + bool(call["got"]), refused + (not call["got"])
    return PASS if accepted and refused else not_tested(NEVER)


def _overtaken(call: Mapping[str, Any], this: Mapping[str, Any]) -> Remark | None:
    """What is wrong with a step beside which B has taken over, and seen (step, data, number of effects)."""
    task, order = call["args"][0]["task"], in_order(this)
    said = f"{call['about']}: {told(call)} {gave(call)}"
    before, after, (found,) = row_of(this["before"], task), row_of(this["after"], task), this["rivals"]["B"]["found"]
    assert before is not None
    sent = len(this["after"]["sent"])
    if after is None or after[1:3] != [before[1] + 1, "B"]:
        return fail(f"{said}. B has taken over; at the end there is {shown(after)}.{order}")
    if [*after[3:], sent] != found:
        saw = f"B has taken over, and saw step {found[0]}, data {found[1]!r} and {found[2]} effect(s)"
        return fail(f"{said}. {saw}; at the end there is {shown(after)} and {sent} effect(s).{order}")
    if bool(call["got"]) != (found[0] > before[3]) or sent != found[0] - before[3]:
        return fail(f"{said}. At the end there is {shown(after)} and {sent} effect(s).{order}")
    if not call["got"] and _was_first(this):
        return fail(f"{said}, before B had taken over.{order}")
    return None


def _was_first(this: Mapping[str, Any]) -> bool:
    """Whether the answer had done all it did when B took over."""
    who = [worker for worker, text, _ in this["log"] if worker == "A" or text == "(takes over)"]
    return bool(who[-1] == "B")


# -- effect once -----------------------------------------------------------------------------------------------------


def play_two(commit_step: Function, setting: Setting) -> Facts:
    """Two processes of one worker pass the same Progress, in all orders."""
    task, mine, rest, effects = scene(setting)
    work = commits(commit_step, mine, effects[:1], "A passes the same Progress twice, at the same time")
    return {"rounds": all_orders(setting, (*rest, mine), {"A": work, "A2": work}, task)}, None


def judge_two(run: Run) -> Remark:
    for this in run.facts["rounds"]:
        for call in this["calls"]:
            if remark := raised(call, this):
                return remark
            if call["open"] and call["got"]:
                return not_tested("commit_step left a transaction open, so what it did was not committed.")
        first = this["calls"][0]
        got = sum(bool(call["got"]) for call in this["calls"])
        said = f"{first['about']}: {told(first)} gave a Progress {['to neither', 'once', 'twice'][got]}"
        if changed := differences(wanted({**first, "before": this["before"]}), this["after"]):
            return fail(f"{said}; at the end there was {changed.replace(', before ', ' instead of ')}.{in_order(this)}")
        if got != 1:
            return fail(f"{said}, and the effects are there once.{in_order(this)}")
    return PASS


def _trial(of_variants: Mapping[str, tuple[Callable[..., Facts], Callable[[Run], Remark]]]) -> Trial:
    return Trial(
        "commit_step",
        lambda commit_step, setting: of_variants[setting.variant][0](commit_step, setting),
        lambda run: of_variants[run.setting.variant][1](run),
        tuple(of_variants),
    )


SCRIPT = play_script, judge_script
COMMITS = {
    "one transaction": _trial({"plain": SCRIPT, "dies": (play_dies, judge_dies)}),
    "zombie refused": _trial({"cases": SCRIPT, "race": (play_race, judge_race)}),
    "effect once": _trial({"twice": SCRIPT, "race": (play_two, judge_two)}),
    "errors pass": _trial({"plain": SCRIPT}),
    "data limit": _trial({"plain": SCRIPT}),
    "transaction closed": _trial({"plain": SCRIPT}),
}
