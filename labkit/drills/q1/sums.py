"""The two sums of question 1, put to the test and judged by playing what the answer claims."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..calls import called, unexpected
from ..trial import PASS, Function, Remark, Run, Setting, Trial, fail

Facts = tuple[Mapping[str, Any], None]
TTL_SAID = "must be refused with a ValueError"


# -- tolerated misses ------------------------------------------------------------------------------------------------


def play_misses(function: Function, setting: Setting) -> Facts:
    draw = setting.draw
    good = [3, 2, 4, 5, *(draw.randrange(6, 80) for _ in range(3))]
    bad = [1, 0, -draw.randrange(1, 50)]
    return {"good": [called(function, n) for n in good], "bad": [called(function, n) for n in bad]}, None


def judge_misses(run: Run) -> Remark:
    for call in run.facts["good"]:
        (n,) = call["args"]
        if odd := unexpected(call, f"tolerated_misses({n})"):
            return odd
        said = call["number"]
        if said is None:
            return fail(f"tolerated_misses({n}) gave {call['shown']}, which is no number.")
        if said != int(said):
            return fail(f"tolerated_misses({n}) gave {call['shown']}; a number of attempts is whole.")
        if not survives(n, said):
            return fail(
                f"tolerated_misses({n}) gave {call['shown']}. Played with that many misses in a row, the lease ran "
                "out: no attempt was left before its end."
            )
        if survives(n, said + 1):
            return fail(
                f"tolerated_misses({n}) gave {call['shown']}. Played with one miss more in a row, the lease was still "
                "renewed in time."
            )
    for call in run.facts["bad"]:
        if not call["refused"]:
            what = f"raised {call['raised']}" if call["raised"] else f"gave {call['shown']}"
            return fail(f"tolerated_misses({call['args'][0]}) {what}; an n below 2 {TTL_SAID}.")
    return PASS


def survives(n: int, misses: float) -> bool:
    """Plays one TTL, in n-ths of it: attempts at 1, 2, … strictly before n; the first `misses` of them fail."""
    attempts = range(1, n)
    return misses >= 0 and any(attempt > misses for attempt in attempts)


# -- longest interval ------------------------------------------------------------------------------------------------


def play_longest(function: Function, setting: Setting) -> Facts:
    draw = setting.draw
    cases = [(30, 1, 2, 4), (30.0, 0, 0.0, 0.0)]
    for misses in (0, 1, 2, draw.randrange(3, 9)):
        ttl = round(draw.uniform(5, 90), 2)
        attempt = round(ttl * draw.uniform(0.01, 0.3) / (misses + 2), 3)
        cases.append((ttl, misses, attempt, round(ttl * draw.uniform(0.02, 0.3), 3)))
    return {"calls": [called(function, *case) for case in cases]}, None


def judge_longest(run: Run) -> Remark:
    for call in run.facts["calls"]:
        ttl, misses, attempt, margin = call["args"]
        name = _named(*call["args"])
        if odd := unexpected(call, name):
            return odd
        if call["number"] is None:
            return fail(f"{name} gave {call['shown']}, which is no number.")
        left = ttl - back_at(call["number"], misses, attempt)
        if left < margin - 1e-9 * ttl:
            return fail(
                f"{name} gave {call['shown']}. Played with that interval, the attempt that was good again came back "
                f"with {_left(left)}; the margin asked for is {margin:g} s."
            )
        if left > margin + 1e-9 * ttl:
            return fail(
                f"{name} gave {call['shown']}. Played with that interval, the attempt that was good again came back "
                f"with {_left(left)}, more than the margin of {margin:g} s: a longer interval would have done."
            )
    return PASS


def _named(ttl: float, misses: int, attempt: float, margin: float) -> str:
    return f"longest_interval({ttl:g}, {misses}, {attempt:g}, {margin:g})"


def _left(left: float) -> str:
    if left < 0:
        return f"the lease over for {-left:.6g} s"
    return f"{left:.6g} s of the lease left"


def back_at(interval: float, misses: int, attempt: float) -> float:
    """When the first good attempt after `misses` bad ones is back; the last good one was sent at 0."""
    ended = attempt
    for _ in range(misses + 1):
        ended = ended + interval + attempt
    return ended


# -- impossible interval ---------------------------------------------------------------------------------------------


def play_impossible(function: Function, setting: Setting) -> Facts:
    draw = setting.draw
    half = draw.randrange(1, 9) / 2  # so that nothing is left, to the last bit
    none = (4 * half, 1, half, half)
    short = (round(draw.uniform(2, 9), 1), draw.randrange(3, 7), 2.5, 1.0)
    margin = (10.0, 0, 1.0, round(draw.uniform(9, 30), 1))
    return {
        "calls": [called(function, *case) for case in (short, margin, none)],
        "possible": called(function, 30, 1, 2, 4),
    }, None


def judge_impossible(run: Run) -> Remark:
    for call in run.facts["calls"]:
        name = _named(*call["args"])
        if not call["refused"]:
            if odd := unexpected(call, name):
                return odd
            return fail(f"{name} gave {call['shown']}. Nothing above 0 keeps the margin there, so it {TTL_SAID}.")
    if run.facts["possible"]["raised"]:
        return fail("longest_interval(30, 1, 2, 4) is refused as well, though an interval above 0 does there.")
    return PASS


SUMS = {
    "tolerated misses": Trial("tolerated_misses", play_misses, judge_misses),
    "longest interval": Trial("longest_interval", play_longest, judge_longest),
    "impossible interval": Trial("longest_interval", play_impossible, judge_impossible),
}
