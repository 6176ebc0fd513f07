"""The checks of `release`: it goes to all nodes, it counts, and it spares what is another's."""

from __future__ import annotations

import random

from ...wording import listed, moment
from ..trial import PASS, Remark, fail, not_tested
from .cases import MANY, but, by_turns, case, majority, some, trial
from .look import Look
from .stage import Case


def stage_everywhere(variant: str, draw: random.Random) -> Case:
    """The lease has its key on all nodes. overdue: its deadline is over, though by less than the drift.  silent: of a
    minority, the first node among them, some refuse and some keep silent.  error: they answer with an error."""
    plain = case(draw, MANY)
    everyone = tuple(range(plain.nodes))
    if variant == "overdue":
        return but(plain, ours=everyone, overdue=0.005 * plain.ttl)
    ill = (0, *draw.sample(range(1, plain.nodes), plain.nodes - majority(plain) - 1))
    kinds = ("error",) if variant == "error" else draw.sample(("refused", "lost"), 2)
    return but(plain, ours=everyone, ails=by_turns(ill, *kinds))


def judge_everywhere(w: Look) -> Remark:
    ills = w.facts["ails"]
    ill = f"{listed(tuple(ills))} {'was' if len(ills) == 1 else 'were'} not well; " if ills else ""
    ill = "The deadline of the lease had just passed; " if w.variant == "overdue" else ill
    if w.call["raised"]:
        text = f": {w.call['message']}" if w.call["message"] else ""
        return fail(f"{ill}{w.call['raised']}{text} got out of release, at {w.call['where']}.", w.op.seq)
    for server in w.servers:
        if not w.about_the_key(server) and ills.get(server) not in ("refused", "cut"):
            return fail(f"{ill}release returned at {moment(w.ended[1])} s; {server} was sent nothing about the key.")
    left = tuple(server for server in w.left if ills.get(server) not in ("refused", "cut", "lost", "error", "reset"))
    if left:
        still = f"on {listed(left)} its key stood even when all had arrived that was sent"
        return fail(f"{ill}release returned at {moment(w.ended[1])} s; {still}.", w.op.seq)
    return PASS


def stage_count(variant: str, draw: random.Random) -> Case:
    """some: the lease has its key on a few nodes.  silent: on all; one never gets what is sent, another does, and its
    answer is lost."""
    plain = case(draw, MANY)
    everyone = tuple(range(plain.nodes))
    if variant == "some":
        return but(plain, ours=tuple(draw.sample(everyone, draw.randrange(1, plain.nodes - 1))))
    lost, done = draw.sample(everyone, 2)
    return but(plain, ours=everyone, ails={lost: "lost", done: "done"})


def judge_count(w: Look) -> Remark:
    said = [
        each.server
        for each in w.sent
        if each.applied and each.back and each.back.seq < w.ended[0]
        if w.name in each.applied.data["keys"] and each.applied.data["keys"][w.name] is None
    ]
    if not said:
        return not_tested("no node had deleted the key when release returned.")
    if w.call["number"] == len(said):
        return PASS
    who = f" ({listed(tuple(said))})" if said else ""
    return fail(
        f"{len(said)} of {len(w.servers)} nodes had said that they deleted the key{who}; release returned "
        f"{w.call['shown']}.",
        w.op.seq,
    )


def stage_others(variant: str, draw: random.Random) -> Case:
    """held: B has some nodes by now.  swap: B takes some over as soon as they have answered for the first time."""
    plain = case(draw, MANY)
    count = draw.randrange(1, majority(plain))
    theirs, ours = some(draw, plain, count, plain.nodes - count)
    if variant == "held":
        return but(plain, held=theirs, ours=ours)
    return but(plain, ours=tuple(range(plain.nodes)), swap=theirs)


def judge_others(w: Look) -> Remark:
    if taken := w.trespass(by_set=False):
        return fail(taken)
    missed = [server for server in w.servers if not any(each.applied for each in w.about_the_key(server))]
    if missed:
        return not_tested(f"{listed(tuple(missed))} of {len(w.servers)} nodes executed nothing about the key.")
    return PASS


RELEASES = {
    "release everywhere": trial(
        "release", stage_everywhere, judge_everywhere, "overdue", "silent", "error", harmless=True
    ),
    "release count": trial("release", stage_count, judge_count, "some", "silent"),
    "others' keys": trial("release", stage_others, judge_others, "held", "swap"),
}
