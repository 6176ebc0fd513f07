"""The checks of `acquire` that ask who is granted the lock, and with what."""

from __future__ import annotations

import random

from ...wording import moment
from ..trial import PASS, Remark, fail, not_tested
from .case import Act, Caller, Case, Hook, but, case
from .look import Look, Made, how, not_held

LONG = 100.0  # seconds: longer than anything here lasts


# -- crashed holder ----------------------------------------------------------------------------------------------------


def stage_crashed(variant: str, draw: random.Random) -> Case:
    """crash: A's process is gone.  expire: its session ends, as after a long pause.  B waits."""
    at = draw.uniform(2, 3)
    callers = (Caller("A", 0.3, 5.0), Caller("B", draw.uniform(1, 1.5), LONG, holds=1.0))
    return but(case(draw), callers=callers, acts=(Act(at, variant, "A"),), session=draw.uniform(4, 9), until=60.0)


def judge_crashed(w: Look) -> Remark:
    a, b = w.call("A"), w.call("B")
    end = w.session_end("A")
    if not a["granted"] or end is None:
        return not_held(a)
    if b["granted"] and b["ret"] < end:
        return not_tested(f"{how(b)}, when A held the lock.")
    left = [path for path in w.facts["left"] if path in w.made("A")]
    if left:
        return fail(
            f"A held the lock, and its session ended at {moment(end)} s; its node {left[0]} was still there at the "
            f"end of the play, and {how(b)}.",
            w.seq(b),
        )
    if not b["granted"]:
        return fail(f"A held the lock, its session ended at {moment(end)} s; {how(b)}.", w.seq(b))
    return PASS


# -- mutual exclusion --------------------------------------------------------------------------------------------------


def stage_exclusion(variant: str, draw: random.Random) -> Case:
    """queue: four come at almost the same time.  gap: the session of B ends, which waits between A and C.  unseen:
    likewise, when C has just seen the queue.  twice: A calls two times at once, and B comes in between."""
    if variant in ("gap", "unseen"):
        three = (Caller("A", 0.3, 5.0, draw.uniform(4, 6)), Caller("B", 1.0, LONG), Caller("C", 1.5, LONG, holds=1.0))
        acts = (Act(draw.uniform(2, 3), "expire", "B"),) if variant == "gap" else ()
        hooks = (Hook("C", ("get_children",), "expire", "B"),) if variant == "unseen" else ()
        return but(case(draw), callers=three, acts=acts, hooks=hooks, until=40.0)
    if variant == "twice":
        lanes = (("A", ""), ("B", ""), ("A", "T2"))
        spans = [(draw.uniform(1.5, 2.5), name, lane) for name, lane in lanes]
        callers = tuple(Caller(c, 0.3 + 0.4 * n, LONG, span, lane) for n, (span, c, lane) in enumerate(spans))
        return but(case(draw), callers=callers, until=40.0)
    comes = [draw.uniform(0.3, 0.31) for _ in range(4)]
    callers = tuple(Caller(name, at, LONG, draw.uniform(0.5, 1.5)) for name, at in zip("ABCD", comes, strict=True))
    return but(case(draw), callers=callers, until=40.0)


def judge_exclusion(w: Look) -> Remark:
    granted = sorted((call for call in w.calls if call["granted"]), key=lambda call: float(call["ret"]))
    for call in granted:
        for other in granted:
            if other is not call and other["ret"] <= call["ret"] and w.holds(other, call["ret"]):
                return fail(
                    f"{other['who']} was granted the lock at {moment(other['ret'])} s, and held it; {call['who']} was "
                    f"granted it at {moment(call['ret'])} s.",
                    w.seq(call),
                )
        before = _lower(w, call)
        if before:
            return fail(f"{how(call)}; {before} stood before its own node {call['token']}.", w.seq(call))
    if not granted:
        return not_tested("nobody was granted the lock.")
    freed = [call["leaves"] for call in granted if call["leaves"] is not None]
    if not any(call["t"] < t <= call["ret"] for call in granted for t in freed):
        return not_tested("nobody who had to wait was granted the lock.")
    last = w.calls[-1]
    return PASS if last["granted"] or w.variant not in ("gap", "unseen") else not_tested(f"{how(last)}.")


def _lower(w: Look, call: Made) -> str:
    """A node with a lower number than the one by which a call holds, at its end; empty if there is none."""
    queue = [row[0] for row in call["queue"]]
    if call.get("token") not in queue:
        return ""
    first = min(queue, key=w.number)
    return first if w.number(first) < w.number(call["token"]) else ""


# -- token -------------------------------------------------------------------------------------------------------------


def stage_token(variant: str, draw: random.Random) -> Case:
    """free: the lock is.  waited: A has it, and B is behind another that leaves first."""
    if variant == "free":
        return but(case(draw), callers=(Caller("A", 0.3, draw.choice((0.0, 5.0)), 0.5),), until=40.0)
    callers = (
        Caller("A", 0.3, 5.0, holds=2.0),
        Caller("B", 1.0, LONG, holds=0.5),
        Caller("C", 1.2, LONG, holds=0.5),
    )
    return but(case(draw), callers=callers, until=40.0)


def judge_token(w: Look) -> Remark:
    for call in w.calls:
        if call["kind"] == "other":
            return fail(f"acquire returned {call['shown']}, which is no Lease.", w.seq(call))
    leases = [call for call in w.calls if call["kind"] == "lease"]
    if len(leases) < len(w.calls):
        return not_tested("not everybody was granted the lock.")
    for call in leases:
        said = _amiss(w, call)
        if said:
            return fail(f"{how(call)}. {said}", w.seq(call))
    return PASS


def _amiss(w: Look, call: Made) -> str:
    czxids = {row[0]: row[1] for row in call["queue"]}
    if call["name"] != w.path:
        return f"Its name is {call['name_shown']}; the path was {w.path!r}."
    if call["token"] not in czxids or call["token"] not in w.made(call["client"]):
        made = w.made(call["client"])[-1:] or ["none"]
        return f"Its token is {call['token_shown']}; the node that its client had made was {made[0]!r}."
    if call["fence"] != czxids[call["token"]]:
        return f"Its fence is {call['fence_shown']}; the czxid of {call['token']} was {czxids[call['token']]}."
    return "" if call["deadline_none"] else f"Its deadline is {call['deadline_shown']}, which is not None."
