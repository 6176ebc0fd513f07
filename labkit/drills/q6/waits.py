"""The checks of `acquire` that ask how it waits: for whom, and without a question while there is nothing new."""

from __future__ import annotations

import random

from ...wording import duration, listed, moment
from ..trial import PASS, Remark, fail, not_tested
from .case import Act, Caller, Case, Hook, but, case
from .look import AT_ONCE, Look, how, not_held, struck_nothing
from .stage import SETTLED

LONG = 500.0  # seconds: longer than anything here lasts
LOOKS = ("get_children",)
WATCHES = ("exists", "get", "get_children")


# -- one wake-up -------------------------------------------------------------------------------------------------------


def stage_wake_up(variant: str, draw: random.Random) -> Case:
    """A holds, the others wait, one after the other."""
    names = "ABCDEF"[: draw.randrange(4, 7)]
    callers = tuple(Caller(name, 0.3 + 0.2 * n, LONG, draw.uniform(1.6, 2.0)) for n, name in enumerate(names))
    return but(case(draw), callers=callers, until=60.0)


def judge_wake_up(w: Look) -> Remark:
    left = sorted((call for call in w.calls if call["leaves"] is not None), key=lambda call: float(call["leaves"]))
    ends = [call["leaves"] for call in left[1:]] + [w.timeline.end]
    woke_one = 0
    for call, end in zip(left, ends, strict=True):
        waiting = [each["client"] for each in w.calls if w.waits(each, call["leaves"])]
        told = {f["client"] for f in w.facts["fired"] if call["leaves"] <= f["t"] < end and f["type"] != "NONE"}
        woken = tuple(client for client in waiting if client in told)
        if len(woken) > 1:
            return fail(
                f"{call['who']} left at {moment(call['leaves'])} s, and {len(waiting)} clients waited; the watches of "
                f"{listed(woken)} fired.",
                w.seq(w.call(woken[-1])),
            )
        woke_one += len(woken) == 1 and len(waiting) > 1
    return PASS if woke_one >= 2 else not_tested("no watch of a client that waited fired when a holder left.")


# -- no polling --------------------------------------------------------------------------------------------------------


def stage_polling(variant: str, draw: random.Random) -> Case:
    """A holds for most of a minute; B waits.  third: and C behind it."""
    quiet = draw.uniform(40, 60)
    waiting = "BC" if variant == "third" else "B"
    callers = tuple(Caller(name, 1.0 + 0.5 * n, LONG, holds=0.5) for n, name in enumerate(waiting))
    return but(case(draw), callers=(Caller("A", 0.3, 5.0, quiet), *callers), until=quiet + 30)


def judge_polling(w: Look) -> Remark:
    a, *waiting = w.calls
    if not a["granted"] or a["leaves"] is None:
        return not_held(a)
    start, end = waiting[-1]["t"] + 2.0, a["leaves"]
    for call in waiting:
        if not w.waits(call, end):
            return not_tested(f"{how(call)}, when A held the lock.")
        asked = w.asked(call["client"], start, end)
        if asked:
            return fail(
                f"From {moment(start)} s to {moment(end)} s nothing changed for {call['who']}, which waited; it made "
                f"{len(asked)} call(s) to zk, the first of them {asked[0]['method']} at {moment(asked[0]['t'])} s.",
                w.seq(call),
            )
    first = waiting[0]
    return PASS if first["granted"] else not_tested(f"{how(first)}, though A had left at {moment(end)} s.")


# -- no missed wake-up -------------------------------------------------------------------------------------------------


def stage_missed(variant: str, draw: random.Random) -> Case:
    """looked: A leaves when B has seen the queue, before B gets the reply.  watched: when B's watch is set, before B
    gets the reply.  gap: B leaves when C has seen the queue; A goes later."""
    a, b = Caller("A", 0.3, 5.0), Caller("B", draw.uniform(1.2, 2), LONG, holds=0.5)
    if variant == "gap":
        callers = (a, b, Caller("C", draw.uniform(2.5, 3), LONG, holds=0.5))
        acts, hook = (Act(draw.uniform(5, 7), "free", "A"),), Hook("C", LOOKS, "expire", "B")
        return but(case(draw), callers=callers, acts=acts, hooks=(hook,), until=20.0)
    methods, when = (LOOKS, "after") if variant == "looked" else (WATCHES, "watched")
    return but(case(draw), callers=(a, b), hooks=(Hook("B", methods, "free", "A", when),), until=20.0)


def judge_missed(w: Look) -> Remark:
    a, last = w.calls[0], w.calls[-1]
    if not a["granted"]:
        return not_held(a)
    if w.struck is None:
        return struck_nothing("set a watch on a node that was there" if w.variant == "watched" else "asked who waits")
    if a["left"] is None:
        return not_tested("A, which held the lock, had not left.")
    if last["granted"] and last["ret"] < a["leaves"]:
        return not_tested(f"{how(last)}, when A held the lock.")
    due = max(a["left"], w.struck + SETTLED)
    if not last["granted"] or last["ret"] > due + AT_ONCE:
        gone = f"B left at {moment(w.struck)} s, A" if w.variant == "gap" else "A"
        late = f", {duration(last['ret'] - due)} later" if last["granted"] else ""
        return fail(f"{gone} left at {moment(a['left'])} s; {how(last)}{late}.", w.seq(last))
    return PASS
