"""The judges of how a pod ends: TERM is obeyed, the lock comes last, and what is returned is what happened."""

from __future__ import annotations

from ...derived import Op
from ...wording import duration, moment
from ..trial import PASS, Remark, fail, not_tested
from .watch import HAIR, Watch

NEVER = float("inf")


def judge_stop(w: Watch) -> Remark:
    if w.term is None or not w.at_work(w.term.t - HAIR):
        return not_tested("run had ended before TERM came.")
    came, slack = w.term.t, w.ttl / 1000
    for step in w.steps:
        if step.start > came + w.ttl / 20 + slack:
            late = duration(step.start - came)
            return fail(
                f"TERM came at {moment(came)} s; {late} later a step began, at {moment(step.start)} s.", step.seq
            )
    if w.at_work(came + w.ttl / 2 + slack):
        when = f"at {moment(w.ended.t)} s, {duration(w.ended.t - came)} later" if w.ended else "never in this play"
        ended = "returned" if not w.raised else "ended"
        return fail(f"TERM came at {moment(came)} s; run {ended} {when} (allowed: {duration(w.ttl / 2)}).")
    return PASS


# -- unlock last, unlocked -------------------------------------------------------------------------------------------


def judge_unlock_last(w: Watch) -> Remark:
    for release in w.releases:
        if wrong := _running(w, release) or _afterwards(w, release):
            return wrong
    if not w.releases or not w.ended:
        return not_tested("release was not called." if w.ended else "run had not returned by the end of the play.")
    return PASS


def _running(w: Watch, release: Op) -> Remark | None:
    called = f"release was called at {moment(release.call)} s"
    for step in w.steps:
        if step.seq < release.seq and step.end > release.call + HAIR:
            since = moment(step.start)
            return fail(f"{called}; step {step.nth + 1}, begun at {since} s, was still running.", release.seq)
    for op in w.writes:
        if op.seq < release.seq and (op.end is None or op.end > release.seq):
            return fail(f"{called}; a write, begun at {moment(op.call)} s, was still running.", release.seq)
    return None


def _afterwards(w: Watch, release: Op) -> Remark | None:
    """What began under the same grant after its release."""
    anew = next((g.end or g.seq for g in w.grants if (g.end or 0) > release.seq), len(w.timeline))
    began = [("a step", s.seq, s.start) for s in w.steps]
    began += [("a write", op.seq, op.call) for op in w.writes] + [("an extend", op.seq, op.call) for op in w.extends]
    for what, seq, t in sorted(began, key=lambda each: each[1]):
        if release.seq < seq < anew:
            called = f"release was called at {moment(release.call)} s"
            return fail(f"{called}; {what} began after it, at {moment(t)} s.", seq)
    return None


def judge_unlocked(w: Watch) -> Remark:
    if not w.grants or not w.ended:
        return not_tested("run never got the lock." if w.ended else "run had not returned by the end of the play.")
    grant, end = w.grants[-1], w.ended
    mine = [op for op in w.releases if grant.seq < op.seq < end.seq]
    if w.raised and mine and mine[-1].outcome != "ok":
        raised = f"release, called at {moment(mine[-1].call)} s, raised {mine[-1].value.get('reason', w.raised)}"
        return fail(f"{raised}; {w.raised} got out of run.", mine[-1].seq)
    if w.said not in ("done", "stopped"):
        return not_tested(f"{w.told}, neither 'done' nor 'stopped'.")
    if not mine:
        return fail(f"{w.told} at {moment(end.t)} s; release had not been called since the grant.", end.seq)
    if w.variant in ("gone", "unreachable") and mine[-1].outcome == "ok":
        return not_tested("release had been called before it could fail.")
    return PASS


# -- told apart, no exception ----------------------------------------------------------------------------------------


def judge_told_apart(w: Watch) -> Remark:
    if not w.ended:
        return fail(f"{w.told}.")
    if w.said in _true_words(w):
        return PASS
    written = sum(op.ret is not None and op.ret <= w.ended.t for op in w.writes)
    facts = [f"{written} of {w.count} values had been written"]
    facts.append(f"TERM had come at {moment(w.term.t)} s" if _termed(w) and w.term else "TERM had not come")
    facts.append(f"the lease was gone at {moment(w.gone)} s" if w.gone < NEVER else "the lease was not gone")
    return fail(f"{w.told} at {moment(w.ended.t)} s; {', '.join(facts)}.", w.ended.seq)


def _true_words(w: Watch) -> set[str]:
    """What may be said of this run. Where two things are true, either; a release may learn late that all was gone."""
    assert w.ended is not None
    found = any(op.value.get("lost") for op in w.releases)
    lost = {"lost"} if w.gone < NEVER or found else set[str]()
    if w.finished <= w.ended.t:
        return {"done"} | lost
    return ({"stopped"} if _termed(w) else set[str]()) | lost


def _termed(w: Watch) -> bool:
    return w.term is not None and w.ended is not None and w.term.seq < w.ended.seq


def judge_exceptions(w: Watch) -> Remark:
    if w.raised and w.ended:
        return fail(f"{w.raised} got out of run, at {moment(w.ended.t)} s. {w.ended.data['message']}".strip())
    raised = {
        "acquire": any(op.outcome == "unknown" for op in w.asked),
        "evicted": w.refused is not None,
        "gone": any(op.outcome != "ok" for op in w.releases),
        "unreachable": any(op.outcome != "ok" for op in w.releases),
    }.get(w.variant, bool(w.bad))
    if not raised or not w.ended:
        return not_tested("no call of run's had raised anything." if w.ended else f"{w.told}.")
    return PASS
