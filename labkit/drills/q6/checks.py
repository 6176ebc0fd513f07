"""The checks of question 6: for each, what befalls those who wait for a lock, and what the judge then asks of the run.

A judge says PASS only of a run that came to the point in question. All clients of a run call the same answer, for the
names of the nodes are the answer's own; who holds is sent away by the stage.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

from ..trial import Function, Setting, Trial
from . import releases
from .case import Case
from .ends import judge_lost, judge_removed, judge_timeout, stage_lost, stage_timeout
from .grants import judge_crashed, judge_exclusion, judge_token, stage_crashed, stage_exclusion, stage_token
from .look import Judge, looked
from .stage import play
from .waits import judge_missed, judge_polling, judge_wake_up, stage_missed, stage_polling, stage_wake_up


def trial(stage: Callable[[str, random.Random], Case], judge: Judge, *variants: str) -> Trial:
    def staged(acquire: Function, setting: Setting) -> Any:
        return play(acquire, stage(setting.variant, setting.draw), setting)

    return Trial("acquire", staged, looked(judge), variants)


TRIALS: Mapping[str, Trial] = {
    "mutual exclusion": trial(stage_exclusion, judge_exclusion, "queue", "gap", "unseen", "twice"),
    "crashed holder": trial(stage_crashed, judge_crashed, "crash", "expire"),
    "token": trial(stage_token, judge_token, "free", "waited"),
    "one wake-up": trial(stage_wake_up, judge_wake_up, "queue"),
    "no polling": trial(stage_polling, judge_polling, "second", "third"),
    "no missed wake-up": trial(stage_missed, judge_missed, "looked", "watched", "gap"),
    "total timeout": trial(stage_timeout, judge_timeout, "plain", "zero", "free", "woken", "clock", "slow"),
    "node removed on timeout": trial(stage_timeout, judge_removed, "plain", "zero", "woken"),
    "lost session": trial(stage_lost, judge_lost, "waiting", "freed", "joining", "looking", "between", "leaving"),
    "release tells": Trial("release", releases.play, releases.judge, ("held", "twice", "gone", "over", "ending")),
}
