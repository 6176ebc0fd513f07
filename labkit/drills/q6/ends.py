"""The checks of `acquire` that ask how it ends without the lock: in time, without a trace, or with its session."""

from __future__ import annotations

import random

from ...wording import duration, moment
from ..trial import PASS, Remark, fail, not_tested
from .case import Act, Caller, Case, Hook, but, case
from .look import AT_ONCE, Look, how, not_held, struck_nothing

LONG = 500.0  # seconds: longer than anything here lasts
EARLY, LATE = 0.1, 0.25  # seconds that the end of a wait may be off


# -- total timeout, node removed on timeout ----------------------------------------------------------------------------


def stage_timeout(variant: str, draw: random.Random) -> Case:
    """plain: A holds.  zero: and B may take one look.  free: one look at a free lock.  woken: those between A and B
    leave one by one.  clock: likewise, and B's wall clock is set.  slow: it takes long to join the queue."""
    plain, at = case(draw), draw.uniform(1.6, 2.5)
    timeout = 0.0 if variant in ("zero", "free") else draw.uniform(3, 6)
    a, b = Caller("A", 0.3, 5.0), Caller("B", at, timeout, holds=1.0)
    until = at + 4 * timeout + 8
    if variant == "free":
        return but(plain, callers=(b,), until=until)
    if variant == "slow":
        return but(plain, callers=(a, b), slow=("B", timeout * draw.uniform(0.3, 0.6)), until=until)
    if variant in ("plain", "zero"):
        return but(plain, callers=(a, b), until=until)
    between = (Caller("P", 0.6, LONG), Caller("Q", 0.9, LONG))
    leave = tuple(Act(at + timeout * part, "expire", who) for part, who in ((0.45, "Q"), (0.85, "P")))
    by = draw.choice((-1, 1)) * timeout * draw.uniform(3, 9)
    step = (Act(at + timeout * 0.2, "clock", "B", by),) if variant == "clock" else ()
    return but(plain, callers=(a, *between, b), acts=(*leave, *step), until=until)


def judge_timeout(w: Look) -> Remark:
    b = w.call("B")
    if w.variant == "free":
        if b["granted"]:
            return PASS
        return fail(f"The lock was free and the timeout 0, one look; {how(b)}.", w.seq(b))
    a = w.call("A")
    if not a["granted"]:
        return not_held(a)
    if b["granted"]:
        return not_tested(f"{how(b)}, when A held the lock.")
    timeout = b["timeout"]
    began = f"B's call began at {moment(b['t'])} s with a timeout of {duration(timeout) if timeout else 0}"
    if b["ret"] is None:
        return fail(f"{began}; {how(b)}.", w.seq(b))
    took = b["ret"] - b["t"]
    if took > timeout + LATE:
        return fail(f"{began}; {how(b)}, after {duration(took)}.", w.seq(b))
    if took < timeout - EARLY:
        return fail(f"{began}; {how(b)}, after {duration(took)} already.", w.seq(b))
    return PASS


def judge_removed(w: Look) -> Remark:
    b = w.call("B")
    if b["kind"] != "none" or b["ret"] is None:
        return not_tested(f"A held the lock, and {how(b)}.")
    if not w.made("B"):
        return not_tested("B had made no node.")
    if b["behind"]:
        return fail(f"{how(b)}; its node {b['behind'][0]} was still there.", w.seq(b))
    return PASS


# -- lost session ------------------------------------------------------------------------------------------------------


def stage_lost(variant: str, draw: random.Random) -> Case:
    """When B's session ends. waiting: in its wait.  freed: likewise, and A leaves.  joining, looking: while it makes
    its node, while it asks for the queue.  between: after that, before it asks for more.  leaving: in the call by which
    it deletes its node in the end."""
    a, b = Caller("A", 0.3, 5.0), Caller("B", draw.uniform(1.2, 2), LONG, holds=1.0)
    plain = but(case(draw), callers=(a, b), until=20.0)
    at = draw.uniform(4, 6)
    if variant == "leaving":
        short = Caller("B", b.comes, draw.uniform(1, 3))
        return but(plain, callers=(a, short), hooks=(Hook("B", ("delete",), "expire", "B", "during"),))
    if variant == "freed":
        both = (Act(at, "expire", "B"), Act(at + draw.choice((0.0, 0.001)), "free", "A"))
        return but(plain, acts=both)
    if variant == "waiting":
        return but(plain, acts=(Act(at, "expire", "B"),))
    if variant == "between":
        return but(plain, hooks=(Hook("B", ("get_children",), "expire", "B"),))
    methods, nth = (("create",), 1) if variant == "joining" else (("get_children",), draw.choice((1, 2)))
    acts = (Act(at, "free", "A"),) if nth == 2 else ()
    return but(plain, acts=acts, hooks=(Hook("B", methods, "expire", "B", "during", nth),))


def judge_lost(w: Look) -> Remark:
    a, b, end = w.call("A"), w.call("B"), w.session_end("B")
    if not a["granted"]:
        return not_held(a)
    if end is None:
        return struck_nothing("made the call in which the session was to end")
    if b["ret"] is not None and b["ret"] < end:
        return not_tested(f"{how(b)}, before its session ended.")
    ended = f"B's session ended at {moment(end)} s, before it had the lock"
    if b["ret"] is None:
        return fail(f"{ended}; {how(b)}.", w.seq(b))
    right = (b["kind"] == "raised" and b["lost"]) or (w.variant == "leaving" and b["kind"] == "none")
    if not right:
        text = f": {b['message']}, at {b['where']}" if b["kind"] == "raised" else ""
        return fail(f"{ended}; {how(b)}{text}.", w.seq(b))
    if b["ret"] > end + AT_ONCE:
        return fail(f"{ended}; {how(b)}, {duration(b['ret'] - end)} later.", w.seq(b))
    return PASS
