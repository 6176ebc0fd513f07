"""The checks of `acquire` that ask whether it grants, and what: votes, the deadline, the token, errors of nodes.

It is long because it is a list: seven checks, each with its stage and its judge.
"""

from __future__ import annotations

import random
import re

from ...wording import duration, listed, moment
from ..trial import PASS, Remark, fail, not_tested
from .cases import MANY, but, by_turns, case, majority, some, trial
from .look import NEAR, Look, nothing_sent
from .stage import PATIENCE, Case

TOKEN = 16  # characters
UUID1 = re.compile("[0-9a-f]{8}-?[0-9a-f]{4}-?1[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}", re.IGNORECASE)
HEARD = 0.005  # seconds before a time-out: by then the slowest node has answered, and its answer is counted
VARIED = 14  # of 16 characters drawn anew six times, even of four kinds only, this many differ somewhere

# -- validity ----------------------------------------------------------------------------------------------------------


def stage_validity(variant: str, draw: random.Random) -> Case:
    """quick: all say OK.  silent: the first node keeps silent, so the round takes its time."""
    return but(case(draw), ails={0: "lost"} if variant == "silent" else {})


def judge_validity(w: Look) -> Remark:
    if not w.sets:
        return nothing_sent(w)
    if not w.granted:
        return not_tested(f"acquire returned {w.gave}, so there was no Lease to look at.")
    if w.call["kind"] != "lease":
        return fail(f"acquire returned {w.call['shown']}, which is no Lease.", w.op.seq)
    for each in w.sets:
        said = f"{each.server} was sent {' '.join(each.words)[:70]}"
        if "PX" not in each.options:
            return fail(f"{said}: without PX.", each.seq)
        sent = each.options[each.options.index("PX") + 1 :][:1]
        if not sent or not sent[0].isdecimal() or abs(int(sent[0]) - 1000 * w.ttl) > 1:
            return fail(f"{said}; the TTL was {w.ttl} s.", each.seq)
    if w.call["name"] != w.name or w.call["fence"] != "None":
        return fail(f"The Lease has name={w.call['name']!r}, fence={w.call['fence']}; the lock was {w.name!r}.")
    return deadline_of(w, NEAR)


def deadline_of(w: Look, near: float) -> Remark:
    """Whether the deadline is right, the start being anywhere between the call and the first SET."""
    if w.call.get("deadline") is None:
        return fail(f"The Lease has deadline={w.call['deadline_shown']}, which is no moment on the clock.", w.op.seq)
    given, first = w.call["deadline"], w.sets[0].t
    early, late = w.latest_deadline - (first - w.op.call) - given, given - w.latest_deadline
    if max(early, late) <= near:
        return PASS
    off = f"{duration(late)} too late" if late > near else f"{duration(early)} too early"
    return fail(
        f"The first SET left at {moment(first)} s, the TTL was {w.ttl} s, acquire returned at {moment(w.ended[1])} s; "
        f"the deadline of its Lease was {off}.",
        w.op.seq,
    )


# -- majority of all ---------------------------------------------------------------------------------------------------


def stage_majority(variant: str, draw: random.Random) -> Case:
    """bare: B has all that a majority does not need, the first among them.  one-short: B has one node more.  few: B has
    one node, and of the others so many are down that one vote is missing."""
    plain = case(draw, {"bare": (3, 5), "one-short": (7,), "few": MANY}[variant])
    need = majority(plain)
    if variant == "few":
        down, held = some(draw, plain, need - 1, 1)
        return but(plain, held=held, ails=dict.fromkeys(down, "refused"))
    if variant == "one-short":
        return but(plain, held=tuple(draw.sample(range(plain.nodes), plain.nodes - need + 1)))
    return but(plain, held=(0, *draw.sample(range(1, plain.nodes), plain.nodes - need - 1)))


def judge_majority(w: Look) -> Remark:
    if not w.sets:
        return nothing_sent(w)
    if taken := w.trespass(by_set=True):
        return fail(taken)
    votes = f"{len(w.votes)} of {len(w.servers)} nodes had said OK ({listed(tuple(w.votes)) or 'none'})"
    if w.variant != "bare" and (w.granted or w.call["kind"] != "none"):
        return fail(f"{votes}; acquire returned {w.gave} at {moment(w.ended[1])} s.", w.op.seq)
    if w.variant == "bare" and not w.granted:
        free = f"{w.needed} of {len(w.servers)} nodes were free and well"
        return fail(f"{free}, {votes}; acquire returned {w.gave} at {moment(w.ended[1])} s.", w.op.seq)
    if w.granted and len(w.votes) < w.needed:
        return fail(f"{votes}; acquire returned {w.gave} at {moment(w.ended[1])} s.", w.op.seq)
    return PASS


# -- checked last ------------------------------------------------------------------------------------------------------


def stage_last(variant: str, draw: random.Random) -> Case:
    """A stands still while it waits.  last: for the last answer.  majority: for that which makes a majority.  brink:
    for the last, and what is left is less than the drift.  cleaning: when it sends something else than a SET.
    leaving: when all others have said OK, and the last node is about to time out."""
    plain = case(draw)
    over = plain.ttl * draw.uniform(1.1, 1.6)
    if variant == "leaving":
        last = plain.nodes - 1
        return but(plain, ails={last: "lost"}, then=(plain.nodes, "pause", over), lag=PATIENCE - HEARD)
    if variant == "cleaning":
        (silent,) = some(draw, plain, plain.nodes - majority(plain))
        return but(plain, ails=dict.fromkeys(silent, "lost"), cleaning=over)
    if variant == "brink":
        plain = but(plain, ttl=round(draw.uniform(40, 60), 2))  # a drift of more than all latencies together
        over = plain.ttl - (0.01 * plain.ttl + 0.002) + 0.05
    return but(plain, then=(majority(plain) if variant == "majority" else plain.nodes, "pause", over))


def judge_last(w: Look) -> Remark:
    if not w.sets:
        return nothing_sent(w)
    end, votes = w.ended[1], len(w.votes)
    if w.granted and end >= w.latest_deadline:
        stood = next((event.t for event in w.timeline if event.kind == "wake" and event.t <= end), end)
        return fail(
            f"The first SET left at {moment(w.sets[0].t)} s, the TTL was {w.ttl} s; A stood still until "
            f"{moment(stood)} s. acquire returned {w.gave} at {moment(end)} s, when no time of it was left.",
            w.op.seq,
        )
    if votes < w.needed:
        return not_tested(f"no more than {votes} of {len(w.servers)} nodes had said OK.")
    return not_tested("acquire had returned before time ran out.") if w.granted else PASS


# -- dead node harmless ------------------------------------------------------------------------------------------------


def stage_dead(variant: str, draw: random.Random) -> Case:
    """A minority is ill, the first node among them. down: no connection can be had.  lost: the SET gets lost.  broken:
    some go down with it, some answer with an error.  refusal: B has a node beside, so that there is no majority.
    unlock: B has a majority, and an unlock gets lost.  denied: likewise, and it meets an error."""
    plain = case(draw, MANY)
    if variant == "refusal":
        down, held = some(draw, plain, plain.nodes - majority(plain), 1)
        return but(plain, held=held, ails=dict.fromkeys(down, draw.choice(("refused", "error", "cut"))))
    if variant in ("unlock", "denied"):
        taken = but(plain, held=tuple(range(plain.nodes - majority(plain), plain.nodes)))
        return but(taken, mute=(0,)) if variant == "unlock" else but(taken, ails={0: "denied"})
    down = (0, *draw.sample(range(1, plain.nodes), plain.nodes - majority(plain) - 1))
    kinds = {"down": ["refused", "cut"], "broken": ["error", "reset"]}.get(variant, [variant])
    return but(plain, ails=by_turns(down, *draw.sample(kinds, len(kinds))))


def judge_dead(w: Look) -> Remark:
    ails = w.facts["ails"]
    kinds = {what: tuple(server for server in ails if ails[server] == what) for what in ails.values()}
    ill = "; ".join(f"{listed(servers)}: {AILS[what]}" for what, servers in kinds.items())
    ill = ill or f"B had {w.needed} of {len(w.servers)} nodes; {w.facts['mute'][0]}: what is no SET got lost"
    if w.call["raised"]:
        text = f": {w.call['message']}" if w.call["message"] else ""
        return fail(f"({ill}.) {w.call['raised']}{text} got out of acquire, at {w.call['where']}.", w.op.seq)
    if not w.sets:
        return nothing_sent(w)
    wanted = w.variant not in ("refusal", "unlock", "denied")
    if w.granted == wanted:
        return PASS
    votes = f"{len(w.votes)} of {len(w.servers)} nodes had said OK"
    return fail(f"({ill}.) {votes}; acquire returned {w.gave} at {moment(w.ended[1])} s.", w.op.seq)


AILS = {
    "refused": "nobody listens",
    "cut": "no connection can be had",
    "lost": "the SET got lost",
    "reset": "it went down when the SET was under way",
    "error": "it answered with an error",
    "denied": "it answered to what was no SET with an error",
}


# -- all nodes asked ---------------------------------------------------------------------------------------------------


def stage_asked(variant: str, draw: random.Random) -> Case:
    """free: all say OK.  minority: B has a node, and another keeps silent."""
    plain = case(draw, MANY)
    if variant == "free":
        return plain
    held, silent = some(draw, plain, 1, 1)
    return but(plain, held=held, ails=dict.fromkeys(silent, "lost"))


def judge_asked(w: Look) -> Remark:
    if not w.sets:
        return nothing_sent(w)
    if not w.granted:
        return not_tested(f"acquire returned {w.gave}, though only a minority was not to be had.")
    left_out = [server for server in w.servers if server not in w.asked]
    if left_out:
        votes = f"after {len(w.votes)} nodes had said OK"
        return fail(
            f"acquire returned {w.gave} at {moment(w.ended[1])} s, {votes}; {listed(tuple(left_out))} of "
            f"{len(w.servers)} nodes had never been sent a SET.",
            w.op.seq,
        )
    return PASS


# -- monotonic clock ---------------------------------------------------------------------------------------------------


def stage_clock(variant: str, draw: random.Random) -> Case:
    """A's wall clock is set forward or back when the first SET has left."""
    plain = case(draw)
    by = plain.ttl * draw.uniform(2, 50) * (1 if variant == "forward" else -1)
    return but(plain, then=(1, "clock", by))


def judge_clock(w: Look) -> Remark:
    if not w.sets:
        return nothing_sent(w)
    step = next((event for event in w.timeline if event.kind == "clock" and event.node == "A"), None)
    if step is None or step.seq > w.ended[0]:
        return not_tested("acquire had ended before the clock was set.")
    how = f"At {moment(step.t)} s A's wall clock was set {'forward' if step.data['step'] > 0 else 'back'} by "
    how += duration(abs(step.data["step"]))
    if not w.granted:
        votes = f"{len(w.votes)} of {len(w.servers)} nodes said OK within {duration(w.ended[1] - w.sets[0].t)}"
        rest = tuple(server for server in w.servers if server not in w.asked)
        never = f"{listed(rest)} {'was' if len(rest) == 1 else 'were'} never asked; " if rest else ""
        return fail(f"{how}. {votes}; {never}acquire returned {w.gave}.", step.seq)
    if w.call["kind"] != "lease":
        return not_tested(f"acquire returned {w.call['shown']}, which has no deadline.")
    remark = deadline_of(w, max(0.5, 0.05 * w.ttl))
    return remark if remark is PASS else fail(f"{how}. {remark.message}", step.seq)


# -- fresh token -------------------------------------------------------------------------------------------------------


def stage_token(variant: str, draw: random.Random) -> Case:
    """granted: six times, the lock being given back in between.  refused: six times, B has a majority."""
    plain = case(draw, (3,))
    return but(plain, calls=6, held=(1, 2) if variant == "refused" else ())


def judge_token(w: Look) -> Remark:
    looks = [Look(w.timeline, w.facts, w.variant, w.what, number) for number in range(len(w.facts["calls"]))]
    if not all(look.sets for look in looks):
        return nothing_sent(w)
    for look in looks:
        sent = sorted({each.words[2] for each in look.sets})
        if len(sent) > 1:
            return fail(f"One call set {len(sent)} different values: {', '.join(sent)[:90]}.", look.op.seq)
        if look.call["kind"] == "lease" and look.call["token"] != look.token:
            return fail(f"The Lease has token={look.call['token_shown']}; the value set was {look.token!r:.60}.")
    tokens = [look.token for look in looks]
    for token in tokens:
        if len(token) < TOKEN:
            return fail(f"A token was {token!r}: {len(token)} characters.")
        if tokens.count(token) > 1:
            return fail(f"{tokens.count(token)} of {len(tokens)} calls had the token {token!r:.60}.")
    varied = sum(len(set(column)) > 1 for column in zip(*tokens, strict=False))
    if varied < VARIED:
        return fail(
            f"Two tokens: {tokens[0]!r:.50}, {tokens[1]!r:.50}. In six, only {varied} characters ever differed."
        )
    if any(all(UUID1.match(token, place) for token in tokens) for place in range(len(tokens[0]))):
        return fail(
            f"Two tokens: {tokens[0]!r:.50}, {tokens[1]!r:.50}. All are UUIDs of version 1: a time and an address."
        )
    return PASS


GRANTS = {
    "validity": trial("acquire", stage_validity, judge_validity, "quick", "silent"),
    "majority of all": trial("acquire", stage_majority, judge_majority, "bare", "one-short", "few"),
    "checked last": trial("acquire", stage_last, judge_last, "last", "majority", "brink", "cleaning", "leaving"),
    "dead node harmless": trial(
        "acquire",
        stage_dead,
        judge_dead,
        *("down", "lost", "broken", "refusal", "unlock", "denied"),
        harmless=True,
    ),
    "all nodes asked": trial("acquire", stage_asked, judge_asked, "free", "minority"),
    "monotonic clock": trial("acquire", stage_clock, judge_clock, "forward", "back"),
    "fresh token": trial("acquire", stage_token, judge_token, "granted", "refused"),
}
