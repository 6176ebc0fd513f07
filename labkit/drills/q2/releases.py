"""The checks of `release`: it goes to all nodes, it counts, and it spares what is another's."""

from __future__ import annotations

import random

from ...wording import listed, moment
from ..trial import PASS, Remark, fail, not_tested
from .cases import MANY, but, case, majority, some, trial
from .look import Look
from .stage import Case


def stage_everywhere(variant: str, draw: random.Random) -> Case:
    """all: the lease has its key on all nodes.  others: what ails a minority, which has the first node in it."""
    plain = case(draw, MANY)
    everyone = tuple(range(plain.nodes))
    if variant == "all":
        return but(plain, ours=everyone)
    ill = (0, *draw.sample(range(1, plain.nodes), plain.nodes - majority(plain) - 1))
    return but(plain, ours=everyone, ails=dict.fromkeys(ill, variant))


def judge_everywhere(w: Look) -> Remark:
    ills = w.facts["ails"]
    ill = f"{listed(tuple(ills))} {'was' if len(ills) == 1 else 'were'} not well; " if ills else ""
    if w.call["raised"]:
        text = f": {w.call['message']}" if w.call["message"] else ""
        return fail(f"{ill}{w.call['raised']}{text} got out of release, at {w.call['where']}.", w.op.seq)
    for server in w.servers:
        if not w.about_the_key(server) and ills.get(server) not in ("refused", "cut"):
            return fail(f"{ill}release returned at {moment(w.ended[1])} s; {server} was sent nothing about the key.")
    left = tuple(server for server in w.left if ills.get(server) not in ("refused", "cut", "lost", "error", "reset"))
    if left:
        return fail(
            f"{ill}release returned at {moment(w.ended[1])} s; on {listed(left)} its key still stood.", w.op.seq
        )
    return PASS


def stage_count(variant: str, draw: random.Random) -> Case:
    """all: the lease has its key everywhere.  some: on a few.  silent: one node never gets what is sent, another does,
    and its answer is lost."""
    plain = case(draw, MANY)
    everyone = tuple(range(plain.nodes))
    if variant == "some":
        return but(plain, ours=tuple(draw.sample(everyone, draw.randrange(1, plain.nodes - 1))))
    lost, done = draw.sample(everyone, 2)
    return but(plain, ours=everyone, ails={lost: "lost", done: "done"} if variant == "silent" else {})


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
    met = [each for each in w.sent if each.applied and w.name in each.words[1:]]
    if len({each.server for each in met}) < len(w.servers):
        return not_tested("release had not come to all nodes.")
    return PASS


RELEASES = {
    "release everywhere": trial(
        "release", stage_everywhere, judge_everywhere, "all", "refused", "lost", "error", harmless=True
    ),
    "release count": trial("release", stage_count, judge_count, "all", "some", "silent"),
    "others' keys": trial("release", stage_others, judge_others, "held", "swap"),
}
