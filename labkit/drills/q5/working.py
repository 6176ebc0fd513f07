"""The judges of a pod at work: it waits, works in order, keeps its lock, survives errors, writes nothing too late."""

from __future__ import annotations

from ...derived import Op
from ...wording import duration, moment
from ..trial import PASS, Remark, fail, not_tested
from .watch import HAIR, Step, Watch

TRIED = 0.6  # of a TTL: time that is enough for one more try, whatever the rhythm of the renewals


def judge_waiting(w: Watch) -> Remark:
    if w.term is None and w.variant in ("long", "unreachable"):
        return _got_it(w)
    if w.term is None:
        return not_tested("run never got the lock, so TERM could not come with the grant.")
    came = f"TERM came at {moment(w.term.t)} s, when run had no lock yet"
    if w.writes:
        return fail(f"{came}; a value was written at {moment(w.writes[0].call)} s.", w.writes[0].seq)
    left = [g for g in w.grants if not any(r.seq > g.seq for r in w.releases)]
    if left:
        return fail(f"{came}; the lock that was granted at {_ret(left[0])} s has never been given back.", left[0].seq)
    if w.said != "stopped":
        return fail(f"{came}; {w.told}.")
    return PASS


def _got_it(w: Watch) -> Remark:
    if not w.grants:
        when = f" at {moment(w.ended.t)} s" if w.ended else ""
        return fail(f"{w.told}{when}, and it had never had the lock.{_errors(w)} There was no TERM.")
    if w.variant == "unreachable" and not any(op.outcome == "unknown" for op in w.asked):
        return not_tested("no try to get the lock fell into the time in which Redis could not be reached.")
    return PASS


def _errors(w: Watch) -> str:
    bad = [op for op in w.asked if op.outcome == "unknown" and op.ret is not None]
    return f" Before, acquire had raised {bad[-1].value['reason'].split(':')[0]}." if bad else ""


def _ret(op: Op) -> str:
    return moment(op.ret or 0.0)


# -- in order --------------------------------------------------------------------------------------------------------


def judge_order(w: Watch) -> Remark:
    if wrong := _disorder(w):
        return wrong
    if len(w.writes) >= w.count:
        return PASS
    if w.variant == "plain":
        after = f"after {len(w.writes)} of {w.count} values had been written"
        return fail(f"Nothing had befallen it, and {w.told} {after}.")
    return PASS if len(w.writes) >= 2 else not_tested("fewer than two values were written.")


def _disorder(w: Watch) -> Remark | None:
    """Goes through the steps and the writes in the order in which they began."""
    begun: list[Step] = []
    written = 0
    both: list[Step | Op] = [*w.steps, *w.writes]
    for each in sorted(both, key=lambda one: one.seq):
        if isinstance(each, Step):
            if wrong := _step_amiss(w, each, begun):
                return wrong
            begun.append(each)
            continue
        if written >= len(begun):
            return fail(
                f"At {moment(each.call)} s a value was written, and that of the latest step had been.", each.seq
            )
        if begun[written].end > each.call + HAIR:
            return fail(
                f"At {moment(each.call)} s a value was written, while step {written + 1} was running.", each.seq
            )
        if each.args["value"] != w.values[written]:
            gave = f"Step {written + 1} had given {w.values[written]!r}"
            return fail(f"{gave}; at {moment(each.call)} s {each.args['value']!r} was written.", each.seq)
        written += 1
    return None


def _step_amiss(w: Watch, step: Step, begun: list[Step]) -> Remark | None:
    began = f"Step {step.nth + 1} began at {moment(step.start)} s"
    if any(step.nth == before.nth for before in begun):
        return fail(f"{began}, and it had begun before.", step.seq)
    if step.nth != len(begun):
        return fail(f"{began}; step {len(begun) + 1} had not begun yet.", step.seq)
    done = [op for op in w.writes if op.ret is not None and op.ret <= step.start + HAIR and op.seq < step.seq]
    if len(done) < len(begun):
        return fail(f"{began}; the value of step {step.nth} was not in the store yet.", step.seq)
    return None


# -- renewal, transient errors ---------------------------------------------------------------------------------------


def judge_renewal(w: Watch) -> Remark:
    if not w.grants or w.grants[0].ret is None:
        return not_tested("run never got the lock.")
    if w.gone < w.finished:
        renewed = [op for op in w.extends if op.outcome == "ok" and op.call < w.gone]
        last = f"the last renewal had begun at {moment(renewed[-1].call)} s" if renewed else "it was never renewed"
        lost = f"The lock was lost at {moment(w.gone)} s, with Redis up and nothing amiss"
        done = sum(op.ret is not None and op.ret <= w.gone for op in w.writes)
        return fail(
            f"{lost}, after {done} of {w.count} values had been written; {last}. The TTL was {duration(w.ttl)}."
        )
    return PASS if w.finished < float("inf") else not_tested(f"{w.told} before the work was done.")


def judge_transient(w: Watch) -> Remark:
    if not w.bad:
        return not_tested("no renewal fell into the time in which Redis could not be reached.")
    if len(w.steps) >= w.count and w.steps[-1].end < float("inf"):
        return PASS
    first, errors = w.bad[0], sorted({op.value["reason"].split(":")[0] for op in w.bad})
    failed = f"{len(w.bad)} renewal(s) had failed ({', '.join(errors)}), the first at {_ret(first)} s"
    if w.ended and w.ended.t < w.gone and w.ended.t < w.deadline(w.ended.t) - HAIR and not w.term:
        good = moment(w.deadline(w.ended.t))
        return fail(f"{w.told} at {moment(w.ended.t)} s; {failed}, and the newest lease was good until {good} s.")
    for op in w.bad:
        ended = op.ret or 0.0
        end = w.deadline(ended)
        more = [other for other in w.extends if other.seq > op.seq and other.call < end]
        if not more and end - ended >= TRIED * w.ttl and w.at_work(end - w.ttl / 1000):
            left = f"{duration(end - ended)} before the lease ended"
            return fail(
                f"A renewal failed at {moment(ended)} s, {left}, and no other was tried before its end.", op.seq
            )
    return PASS if w.ended else not_tested("run had not returned by the end of the play.")


# -- no late write ---------------------------------------------------------------------------------------------------


def judge_late_write(w: Watch) -> Remark:
    for op in w.writes:
        began = f"A write began at {moment(op.call)} s"
        if w.refused and (w.refused.end or 0) < op.seq:
            return fail(f"{began}; at {_ret(w.refused)} s extend had raised LeaseLost.", op.seq)
        if op.call >= w.deadline(op.call):
            end = w.deadline(op.call)
            return fail(f"{began}; the newest lease had ended at {moment(end)} s.{_woken(w, end, op.call)}", op.seq)
    if not w.grants:
        return not_tested("run never got the lock.")
    if w.gone == float("inf") or w.finished <= w.gone:
        return not_tested("run had ended before its lease did.")
    return PASS


def _woken(w: Watch, end: float, t: float) -> str:
    woken = any(event.kind == "wake" and event.node == "A" and end <= event.t <= t for event in w.timeline)
    return " The process had been paused in between." if woken else ""
