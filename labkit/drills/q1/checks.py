"""The checks of question 1: for each, what befalls a renewed lease, and what the judge then asks of the run.

A judge says PASS only of a run that came to the point in question: who never renews has not kept any promise about
renewals. Points are given if no variant fails and at least one came to that point. Slack is 1/1000 of a TTL.
It is long because it is a list: ten checks, each with its stage and its judge.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

from ...faults import ClockStep, Evict, Partition, Pause, Restart
from ...wording import duration, moment
from ..trial import PASS, Function, Remark, Setting, Trial, fail, not_tested
from .keeper import WORDS, Case, Slow, play
from .sums import SUMS
from .watch import HAIR, Watch, watched

NOT_YOURS = "keep_alive called lock.release, which is its caller's business."
Stage = Callable[[str, random.Random], Case]


def case(draw: random.Random, share: float) -> Case:
    """A case with a name, a TTL and an interval of about `share` of it, all drawn."""
    ttl = round(draw.uniform(6, 40), 2)
    name = f"{draw.choice(WORDS)}-{draw.randrange(100)}"
    interval = round(ttl * share * draw.uniform(0.85, 1.15), 3)
    return Case(name=name, ttl=ttl, interval=interval, until=8 * ttl)


def trial(stage: Stage, judge: Callable[[Watch], Remark], *variants: str) -> Trial:
    def staged(keep_alive: Function, setting: Setting) -> object:
        return play(keep_alive, stage(setting.variant, setting.draw), setting)

    return Trial("keep_alive", staged, watched(judge), variants)  # type: ignore[arg-type]


# -- keeps renewing --------------------------------------------------------------------------------------------------


def stage_renewing(variant: str, draw: random.Random) -> Case:
    plain = case(draw, 0.22)
    ttl, at = plain.ttl, plain.ttl * draw.uniform(0.3, 0.4)
    window = plain.interval * 1.1
    faults = {
        "plain": (),
        "slow": (Slow(0.0, 9 * ttl, ttl / 120),),
        "silent": (Partition("A", "redis", at, window),),
        "refused": (Restart("redis", at, keep_data=True, down=window),),
    }[variant]
    return but(plain, stop=ttl * draw.uniform(0.8, 0.93), delay=ttl * draw.uniform(0, 0.05), faults=faults)


def judge_renewing(w: Watch) -> Remark:
    slack, stop = w.ttl / 1000, w.stop
    if w.bad and not w.at_work(stop - HAIR):
        return not_tested("keep_alive had ended after a transient error.")
    begun = [op for op in w.attempts if op.call < stop]
    if not begun:
        return fail(f"keep_alive made no attempt in the {duration(stop - w.called.t)} before stop was set.")
    waits = [(w.called.t, begun[0].call), *((a.ret or stop, b.call) for a, b in pairwise(begun))]
    for ended, call in waits:
        if call - ended > w.interval + slack:
            return fail(
                f"Nothing was sent between {moment(ended)} s and {moment(call)} s: {duration(call - ended)}, though "
                f"the interval is {duration(w.interval)}.{_after(w, ended)}"
            )
    last = begun[-1].ret or stop
    if stop - last > w.interval + slack:
        return fail(
            f"The last attempt ended at {moment(last)} s; stop came at {moment(stop)} s, "
            f"{duration(stop - last)} later, though the interval is {duration(w.interval)}.{_after(w, last)}"
        )
    for ended, call in waits[1:]:
        if call - ended <= HAIR:
            return fail(f"At {moment(call)} s an attempt began in the very moment in which the one before ended.")
    if len(begun) > 60 * (stop - w.called.t) / w.interval:
        return fail(f"{len(begun)} attempts were made in {duration(stop - w.called.t)}; that is no waiting.")
    return PASS


def _after(w: Watch, t: float) -> str:
    """Whether an attempt that failed, or an early end, came before."""
    if w.ended is not None and w.ended.t <= t + w.ttl / 100:
        return f" keep_alive had ended at {moment(w.ended.t)} s."
    bad = any(op.ret is not None and abs(op.ret - t) < HAIR for op in w.bad)
    return " The attempt before that had ended with a transient error." if bad else ""


# -- new deadline, transient errors ----------------------------------------------------------------------------------


def stage_new_deadline(variant: str, draw: random.Random) -> Case:
    """The clock variants step the wall clock, which is none of the answer's business."""
    plain = case(draw, 0.6 if variant == "lazy" else 0.25)
    step = plain.ttl * draw.uniform(5, 50)
    faults = (ClockStep("A", by=step, at=plain.ttl * 0.4),) if variant == "clock" else ()
    return but(plain, stop=plain.ttl * draw.uniform(3.1, 4.5), faults=faults)


def judge_new_deadline(w: Watch) -> Remark:
    if not w.good:
        return not_tested("no attempt to renew had succeeded, so there was no newer lease.")
    early = gave_up(w)
    if early is None:
        return PASS if w.stopped and w.at_work(w.stopped.t - HAIR) else not_tested("keep_alive had ended before stop.")
    when, what = early
    before = sum(op.ret is not None and op.ret <= when for op in w.good)
    been = f"the lease had been renewed {before} time(s) without an error" if before else "nothing had gone wrong"
    return fail(f"{what} at {moment(when)} s, though {been} and its newest deadline was {moment(w.deadline(when))} s.")


def gave_up(w: Watch) -> tuple[float, str] | None:
    """When and how keep_alive gave a lease up that was still good, if it did."""
    ends = [(w.told[0].t, "on_lost was called")] if w.told else []
    if w.ended:
        raised = w.ended.data.get("type")
        ends.append((w.ended.t, f"{raised} got out" if raised else "keep_alive returned"))
    return next(((t, what) for t, what in ends if t < min(w.stop, w.deadline(t) - HAIR)), None)


def stage_transient(variant: str, draw: random.Random) -> Case:
    """silence: what is sent is lost.  refusal: nobody listens.  long: until just before the end of the lease.
    for-good: Redis does not come back; the deadline falls into the middle of a wait, not into an attempt.  later: a
    short one, when the first lease has been over for a while."""
    plain = case(draw, 0.09)
    ttl, fit = plain.ttl, draw.choice((8, 9))  # attempts that take TTL/50 each and fit in before the deadline
    if variant == "for-good":
        plain = but(plain, interval=round(ttl * (0.99 - fit / 50) / (fit + draw.uniform(0.35, 0.6)), 3))
    at = ttl * {"for-good": 0.02, "later-silence": 1.5}.get(variant, draw.uniform(0.1, 0.2))
    down = ttl * 0.93 - 2.5 * plain.interval - at if variant.startswith("long") else plain.interval * 1.2
    down = 20 * ttl if variant == "for-good" else down
    silent = Partition("A", "redis", at, down)
    refused = Restart("redis", at, keep_data=True, down=down)
    stop = {"for-good": 3 * ttl, "later-silence": 2.2 * ttl}.get(variant, 0.95 * ttl)
    return but(plain, stop=stop, faults=(refused if variant.endswith("refusal") else silent,))


def judge_transient(w: Watch) -> Remark:
    if not w.bad:
        return not_tested("no attempt fell into the time in which Redis could not be reached.")
    early = gave_up(w)
    if early:
        when, what = early
        errors = sorted({op.value["reason"].split(":")[0] for op in w.bad})
        return fail(
            f"{what} at {moment(when)} s, after {len(w.bad)} failed attempt(s) ({', '.join(errors)}); the newest lease "
            f"was good until {moment(w.deadline(when))} s."
        )
    return PASS


# -- the deadline ----------------------------------------------------------------------------------------------------


def stage_deadline(variant: str, draw: random.Random) -> Case:
    """cut: Redis cannot be reached any more.  long: the interval is longer than the lease.  woken: the process is
    paused in its wait, over the deadline.  brink: an attempt would fall just behind the deadline.  clock: as cut, and
    the wall clock is set back."""
    plain = case(draw, {"refused": 0.3, "long": 2.0, "woken": 0.4}.get(variant, 0.23))
    ttl, at = plain.ttl, plain.ttl * draw.uniform(1.2, 1.9)
    if variant == "brink":
        plain = but(plain, interval=ttl - (0.01 * ttl + 0.002) / 2)
    faults = {
        "cut": (Partition("A", "redis", at),),
        "clock": (Partition("A", "redis", at), ClockStep("A", by=-3 * ttl, at=at)),
        "refused": (Restart("redis", at, keep_data=True, down=20 * ttl),),
        "woken": (Pause("A", ttl * draw.uniform(1.3, 2.5), plain.interval * draw.uniform(2.2, 2.8)),),
    }.get(variant, ())
    return but(plain, stop=5 * ttl, faults=faults)


def judge_after_deadline(w: Watch) -> Remark:
    for op in w.attempts:
        if op.call >= w.deadline(op.call) + HAIR:
            return fail(
                f"An attempt began at {moment(op.call)} s; the newest lease had ended at "
                f"{moment(w.deadline(op.call))} s.{_woken(w, op.call)}",
                op.seq,
            )
    end = w.last_deadline
    if not w.attempts:
        return not_tested("no attempt was made at all.")
    if not w.at_work(end - w.ttl / 1000):
        return not_tested("keep_alive had ended before the deadline came.")
    if w.stopped and w.stopped.t <= end:
        return not_tested("the lease was renewed until stop, so its deadline never came.")
    return PASS


def _woken(w: Watch, t: float) -> str:
    woken = any(event.kind == "wake" and abs(event.t - t) < HAIR for event in w.timeline)
    return " The process had been paused and had just woken up." if woken else ""


def judge_told_in_time(w: Watch) -> Remark:
    end = w.last_deadline
    if w.stopped and w.stopped.t <= end:
        return not_tested("the lease was renewed until stop, so its deadline never came.")
    if not w.at_work(end - w.ttl / 1000) or (w.told and w.told[0].t < end - HAIR and w.bad):
        return not_tested("keep_alive had ended before the deadline came.")
    if w.told and w.told[0].t < end - HAIR:
        return fail(f"on_lost came at {moment(w.told[0].t)} s; the newest lease was good until {moment(end)} s.")
    wakes = [event.t for event in w.timeline if event.kind == "wake" and event.t > end]
    due = max([end, *wakes]) + w.ttl / 20
    if not w.told:
        return fail(f"The newest lease ended at {moment(end)} s, and on_lost was never called.")
    if w.told[0].t > due + w.ttl / 1000:
        late = duration(w.told[0].t - (due - w.ttl / 20))
        return fail(
            f"The newest lease ended at {moment(end)} s; on_lost came at {moment(w.told[0].t)} s, {late} late "
            f"(allowed: {duration(w.ttl / 20)}). The interval was {duration(w.interval)}."
        )
    return PASS


# -- lost ------------------------------------------------------------------------------------------------------------


def stage_lost(variant: str, draw: random.Random) -> Case:
    """gone: the key vanishes.  stolen: it vanishes and B takes the lock.  cut: the deadline passes."""
    plain = case(draw, 0.2)
    at = plain.ttl * draw.uniform(0.3, 0.6)
    faults = (Partition("A", "redis", at),) if variant == "cut" else (Evict(plain.name, "redis", at),)
    return but(plain, stop=6 * plain.ttl, faults=faults, thief=at + 0.001 if variant == "stolen" else None)


def judge_lost_at_once(w: Watch) -> Remark:
    if not w.lost:
        return not_tested("no attempt was made after the lock had gone, so LeaseLost was never raised.")
    first = w.lost[0]
    assert first.ret is not None
    later = [op for op in w.attempts if op.call > first.call]
    if w.told and w.told[0].t <= first.ret + w.ttl / 20 and not (later and later[0].call < w.told[0].t):
        return PASS
    said = f"extend raised LeaseLost at {moment(first.ret)} s; "
    if later and not (w.told and w.told[0].t < later[0].call):
        return fail(f"{said}the next thing was another attempt, at {moment(later[0].call)} s.", first.seq)
    if w.told:
        return fail(f"{said}on_lost came at {moment(w.told[0].t)} s, not at once.", first.seq)
    if w.ended and w.ended.data["drill"] == "raised":
        return fail(f"{said}it got out of keep_alive, and on_lost was not called.", first.seq)
    return fail(f"{said}on_lost was not called.", first.seq)


def judge_told_once(w: Watch) -> Remark:
    if w.released:
        return fail(NOT_YOURS, w.released[0].seq)
    if not w.told:
        return not_tested("on_lost was not called at all.")
    first = w.told[0]
    if len(w.told) > 1:
        times = ", ".join(f"{moment(event.t)} s" for event in w.told[:4])
        return fail(f"on_lost was called {len(w.told)} times, at {times}.", first.seq)
    if not first.data["text"]:
        return fail(f"on_lost was given {first.data['given']}, which is no reason in words.", first.seq)
    if w.ended and w.ended.data["drill"] == "raised":
        return fail(f"on_lost was called at {moment(first.t)} s, and then {w.ended.data['type']} got out.", first.seq)
    if w.at_work(first.t + w.ttl / 20):
        return fail(
            f"on_lost was called at {moment(first.t)} s, and keep_alive went on instead of returning.", first.seq
        )
    return PASS


# -- stop ------------------------------------------------------------------------------------------------------------


def stage_stop(variant: str, draw: random.Random) -> Case:
    """waiting: in the middle of a wait.  cut: in the middle of the wait after an error, before the deadline.  slow:
    anywhere, attempts take long.  first: before the call."""
    plain = case(draw, {"waiting": 0.3, "cut": 0.2, "slow": 0.12, "first": 0.3}[variant])
    ttl = plain.ttl
    failed = 1 + 0.45 * ttl // plain.interval  # the first attempt after the cut; it takes TTL/50
    stop = {
        "waiting": plain.interval * draw.uniform(2.2, 2.7),
        "cut": plain.interval * (failed + draw.uniform(0.3, 0.5)) + ttl / 50,
        "slow": ttl * draw.uniform(0.4, 0.9),
        "first": 0.0,
    }[variant]
    faults = {"cut": (Partition("A", "redis", ttl * 0.45),), "slow": (Slow(0.0, 9 * ttl, ttl / 120),)}.get(variant, ())
    return but(plain, stop=stop, faults=faults)


def judge_after_stop(w: Watch) -> Remark:
    assert w.stopped is not None
    stop = w.stopped.t
    for op in w.attempts:
        if op.seq > w.stopped.seq:
            return fail(f"stop was set at {moment(stop)} s; an attempt began at {moment(op.call)} s, after it.", op.seq)
    running = any(op.end is None or op.end > w.stopped.seq for op in w.attempts)
    if w.told and w.told[0].seq > w.stopped.seq and not running:
        return fail(f"stop was set at {moment(stop)} s; on_lost was called at {moment(w.told[0].t)} s.", w.told[0].seq)
    if w.released:
        return fail(NOT_YOURS, w.released[0].seq)
    return PASS if w.good and w.at_work(stop - HAIR) else idle(w)


def judge_prompt_stop(w: Watch) -> Remark:
    assert w.stopped is not None
    stop = w.stopped.t
    if not w.good or not w.at_work(stop - HAIR):
        return idle(w)
    if w.at_work(stop + w.ttl / 20 + w.ttl / 1000):
        when = f"at {moment(w.ended.t)} s, {duration(w.ended.t - stop)} later" if w.ended else "never in this run"
        return fail(f"stop was set at {moment(stop)} s; keep_alive returned {when} (allowed: {duration(w.ttl / 20)}).")
    return PASS


def idle(w: Watch) -> Remark:
    return not_tested(
        "keep_alive had not renewed anything before stop was set."
        if not w.good
        else "keep_alive had ended before stop."
    )


# -- interrupts ------------------------------------------------------------------------------------------------------


def stage_interrupt(variant: str, draw: random.Random) -> Case:
    """The variant is what is raised."""
    kind = {"KeyboardInterrupt": KeyboardInterrupt, "SystemExit": SystemExit}[variant]
    return but(case(draw, 0.25), interrupt=(draw.randrange(1, 4), kind), stop=30.0)


def judge_interrupts(w: Watch) -> Remark:
    hit = [op for op in w.attempts if op.ret is None]
    if not hit:
        return not_tested("extend was not called often enough to be interrupted.")
    if w.told:
        return fail(f"Inside extend an interrupt was raised, and on_lost was called at {moment(w.told[0].t)} s.")
    if w.ended and w.ended.data.get("type") == w.variant:
        return PASS
    how = f"keep_alive went on to its end at {moment(w.ended.t)} s" if w.ended else "keep_alive went on"
    return fail(f"Inside extend, at {moment(hit[0].call)} s, an interrupt was raised; it did not get out: {how}.")


def but(plain: Case, **changes: object) -> Case:
    return replace(plain, **changes)  # type: ignore[arg-type]


TRIALS = SUMS | {
    "keeps renewing": trial(stage_renewing, judge_renewing, "plain", "slow", "silent", "refused"),
    "new deadline": trial(stage_new_deadline, judge_new_deadline, "brisk", "lazy", "clock"),
    "transient errors": trial(
        stage_transient,
        judge_transient,
        *("silence", "refusal", "long-silence", "long-refusal", "for-good", "later-silence"),
    ),
    "nothing after the deadline": trial(
        stage_deadline, judge_after_deadline, "cut", "refused", "woken", "brink", "clock"
    ),
    "lost at once": trial(stage_lost, judge_lost_at_once, "gone", "stolen"),
    "told in time": trial(stage_deadline, judge_told_in_time, "long", "cut", "refused", "woken", "clock"),
    "told once": trial(stage_lost, judge_told_once, "gone", "stolen", "cut"),
    "nothing after stop": trial(stage_stop, judge_after_stop, "waiting", "cut", "slow", "first"),
    "prompt stop": trial(stage_stop, judge_prompt_stop, "waiting", "cut", "slow"),
    "interrupts": trial(stage_interrupt, judge_interrupts, "KeyboardInterrupt", "SystemExit"),
}
