"""The checks of `acquire` that ask what it does when there is no lock to be had: it stops, and takes back."""

from __future__ import annotations

import random

from ...wording import duration, listed, moment
from ..trial import PASS, Remark, fail, not_tested
from .cases import MANY, but, by_turns, case, majority, some, trial
from .look import HAIR, Look, Sent, nothing_sent, timed_out
from .stage import SCRIPTS, Case

# -- hopeless stops ----------------------------------------------------------------------------------------------------


def stage_hopeless(variant: str, draw: random.Random) -> Case:
    """held: B has all.  failing: none says OK; some keep silent, with the key or without, some answer with an error.
    used-up: A stands still while it waits, until the validity is used up."""
    plain = case(draw, MANY)
    everyone = range(plain.nodes)
    if variant == "held":
        return but(plain, held=tuple(everyone))
    if variant == "used-up":
        over = plain.ttl * draw.uniform(1.1, 1.6)
        return but(plain, then=(draw.randrange(1, majority(plain)), "pause", over))
    return but(plain, ails=by_turns(everyone, *draw.sample(("lost", "done", "error"), 3)))


def judge_hopeless(w: Look) -> Remark:
    if not w.sets:
        return nothing_sent(w)
    if w.granted:
        return not_tested(f"acquire returned {w.gave}.")
    over = w.latest_deadline
    for each in w.sets:
        gone = no_votes(w, each)
        if len(w.servers) - len(gone) < w.needed:
            return fail(
                f"{listed(tuple(gone))} of {len(w.servers)} nodes had refused or failed; at {moment(each.t)} s "
                f"{each.server} was sent a SET.",
                each.seq,
            )
        if each.t >= over:
            return fail(
                f"The first SET left at {moment(w.sets[0].t)} s, the TTL was {w.ttl} s; at {moment(each.t)} s "
                f"{each.server} was sent a SET.",
                each.seq,
            )
    if len(w.asked) < w.needed and w.variant != "used-up":
        return not_tested(f"acquire gave up after {len(w.asked)} of {len(w.servers)} nodes, when there was still hope.")
    return PASS


def no_votes(w: Look, before: Sent) -> list[str]:
    """The nodes of which A knew, when it sent this, that they had refused or failed."""
    gone = []
    for each in w.sets:
        heard = each.back is not None and each.back.seq < before.seq
        if (heard and each.reply != "+OK") or (each.back is None and timed_out(each) <= before.t):
            gone.append(each.server)
    return list(dict.fromkeys(gone))


# -- timeout is no vote ------------------------------------------------------------------------------------------------


def stage_timeout(variant: str, draw: random.Random) -> Case:
    """One vote is missing. lost: of the others the SET gets lost.  done: it is executed, or comes late."""
    plain = case(draw)
    (silent,) = some(draw, plain, plain.nodes - majority(plain) + 1)
    return but(plain, ails=by_turns(silent, *(("lost",) if variant == "lost" else ("done", "late"))))


def judge_timeout(w: Look) -> Remark:
    if not w.sets:
        return nothing_sent(w)
    for server in w.asked:
        twice = [each for each in w.sets if each.server == server][1:]
        if twice:
            return fail(f"{server} was sent a second SET, at {moment(twice[0].t)} s; an attempt is one try.")
    if w.granted:
        silent = tuple(server for server in w.asked if server not in w.votes)
        return fail(
            f"{len(w.votes)} of {len(w.servers)} nodes had said OK, {listed(silent)} had not answered to the SET; "
            f"acquire returned {w.gave} at {moment(w.ended[1])} s.",
            w.op.seq,
        )
    silent = tuple(server for server in w.asked if server in w.facts["ails"])
    return PASS if silent else not_tested("no node that keeps silent had been asked.")


# -- unlock after failure ----------------------------------------------------------------------------------------------


def stage_unlock(variant: str, draw: random.Random) -> Case:
    """held: B has the second to the fifth of seven nodes.  silent: one vote is missing; the silent ones have
    executed the SET, or will.  error: B has some, and a node answers with an error.  over: all say OK, too late.
    used-up: it is too late before there is a majority.  mute: B has a majority, and the first unlock gets lost.  swap:
    likewise, and the first node goes over to B once it has said OK."""
    if variant == "held":
        return but(case(draw, (7,)), held=(1, 2, 3, 4))
    plain = case(draw, MANY)
    if variant == "over":
        return but(plain, then=(plain.nodes, "pause", plain.ttl * draw.uniform(0.995, 1.6)))
    if variant == "used-up":
        return but(plain, then=(draw.randrange(1, majority(plain)), "pause", plain.ttl * draw.uniform(1.1, 1.6)))
    if variant == "silent":
        (silent,) = some(draw, plain, plain.nodes - majority(plain) + 1)
        return but(plain, ails=by_turns(silent, *draw.sample(("done", "late"), 2)))
    held = tuple(sorted(draw.sample(range(2, plain.nodes), majority(plain) - (variant == "error"))))
    ill = {next(number for number in range(1, plain.nodes) if number not in held): "error"}
    if variant == "error":
        return but(plain, held=held, ails=ill)
    return but(plain, held=held, mute=(0,) if variant == "mute" else (), swap=(0,) if variant == "swap" else ())


def judge_unlock(w: Look) -> Remark:
    if not w.sets:
        return nothing_sent(w)
    if w.granted:
        return not_tested(f"acquire returned {w.gave}.")
    if taken := w.trespass(by_set=False):
        return fail(taken)
    for server in w.asked:
        remark = taken_back(w, server)
        if remark is not PASS:
            return remark
    for server, since in w.left.items():
        run = [each.applied.t for each in w.unlocks(server) if each.applied and each.applied.seq > since.seq]
        if run:  # else the network brought the SET after the unlock, or did not bring the unlock
            return fail(
                f"On {server} the key was set at {moment(since.t)} s and your script ran at {moment(run[0])} s; "
                f"the key stood there all the same. acquire returned {w.gave} at {moment(w.ended[1])} s.",
                since.seq,
            )
    return PASS


def taken_back(w: Look, server: str) -> Remark:
    """Whether one node was sent what deletes the key if it is ours, after its SET and before the end."""
    first, *again = (each for each in w.sets if each.server == server)
    about = f"{server} was sent a SET at {moment(first.t)} s{said_of(first, w)}"
    unlocks = w.unlocks(server)
    later = [each for each in unlocks if each.seq > first.seq]
    late = [each for each in (first, *again) if unlocks and each.seq > unlocks[-1].seq]
    if late:
        apart = duration(late[0].t - unlocks[-1].t + HAIR)
        return fail(f"{server} was sent a SET {apart} after it had been sent its unlock.", late[0].seq)
    if not later:
        others = [each for each in w.about_the_key(server) if each.seq > first.seq]
        none = f"nothing that deletes it before acquire returned {w.gave} at {moment(w.ended[1])} s"
        what = f"and then {others[-1].name}, at {moment(others[-1].t)} s" if others else f"and then {none}"
        if others and others[-1].name in SCRIPTS:
            what += f", which did not do what was asked (reply: {others[-1].reply or 'none'})"
        return fail(f"{about}, {what}.", first.seq)
    plain = [each for each in w.about_the_key(server) if each.name in ("DEL", "UNLINK", "GETDEL", "EXPIRE", "PEXPIRE")]
    if plain:
        return fail(f"{about}, and then {plain[0].name} at {moment(plain[0].t)} s.", plain[0].seq)
    return PASS


def said_of(each: Sent, w: Look) -> str:
    if each.back is None or each.back.seq > w.ended[0]:
        return " (no answer)"
    return f" ({ {'+OK': 'OK', '$-1': 'refused'}.get(each.reply, each.reply) })"


REFUSALS = {
    "hopeless stops": trial("acquire", stage_hopeless, judge_hopeless, "held", "failing", "used-up"),
    "timeout is no vote": trial("acquire", stage_timeout, judge_timeout, "lost", "done"),
    "unlock after failure": trial(
        "acquire", stage_unlock, judge_unlock, *("held", "silent", "error", "over", "used-up", "mute", "swap")
    ),
}
