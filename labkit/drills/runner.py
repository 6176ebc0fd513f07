"""Runs the checks of a question on an answer, each in a process of its own, two at a time.

pebble keeps the time and ends what does not end itself. The processes are forked from a server that has loaded the
world already and has never seen an answer, so each costs some 20 ms; where there is no such server (Windows) they start
from nothing, which is slower. The learner's main module is not run again in them: it may be the script that checks.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import TimeoutError as TooLong
from concurrent.futures import wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from types import ModuleType
from typing import Any, NamedTuple

from pebble import ProcessExpired, ProcessPool

from . import child
from .answer import Answer, Found
from .child import Limits
from .drill import Criterion, Drill
from .trial import Outcome, Remark, Run, Setting

WORKERS = 2
ROUNDS = 2  # plays of each variant
TICK = 0.2  # seconds
START = 30.0  # seconds for a process to start, on a busy machine
METHOD = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
leave = os._exit  # an answer may have put something else in its place
_base: Any = multiprocessing.get_context(METHOD)


class Process(_base.Process):  # type: ignore[misc]
    """A worker that does not run the caller's main module again, and that ends with its last task, whatever threads
    an answer has left behind."""

    @staticmethod
    def _Popen(process: BaseProcess) -> Any:
        with _no_main():
            return _base.Process._Popen(process)

    def run(self) -> None:
        super().run()
        leave(0)


@contextmanager
def _no_main() -> Iterator[None]:
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _pool(workers: int, tasks: int) -> ProcessPool:
    """tasks: how many one process serves before the next takes over; 0: all."""
    context = type(_base)()
    context.Process = Process
    if METHOD == "forkserver":
        context.set_forkserver_preload(["labkit.drills.preload"])
    return ProcessPool(max_workers=workers, max_tasks=tasks, context=context)


class Judged(NamedTuple):
    """All that is known of one criterion: a remark on each play, with the play."""

    criterion: Criterion
    remarks: tuple[tuple[Remark, Run | None], ...]


class NotStarted(Exception):
    """The processes of a check cannot be had; nothing is known of the answer."""

    def __str__(self) -> str:
        return (
            "The processes in which an answer is tested do not start here, so nothing can be said of yours. "
            "`labkit doctor` tells what is missing; restarting the kernel may help."
        )


@dataclass(frozen=True)
class Job:
    """One check of an answer. seed: of the first play; the others follow.  only: this one play.  tick: told, in words,
    what is being waited for, several times a second."""

    drill: Drill
    answer: Answer
    limits: Limits
    found: Mapping[str, Found] = field(default_factory=dict)
    seed: int = 1
    only: Setting | None = None
    tick: Callable[[str], None] = lambda text: None


def survey(job: Job) -> Mapping[str, Any]:
    """Which functions the answer has: see `child.survey`. A file that does not come back is `unreadable`."""
    with _pool(1, 1) as pool:
        args = (job.drill.name, job.answer, job.limits)
        future = pool.schedule(child.survey, args=args, timeout=job.limits.seconds)
        text = _text(job, future, "The code around your functions", "reading your answer")
    if isinstance(text, Remark):
        return {"unreadable": text.message}
    try:
        result: Mapping[str, Any] = json.loads(text)
        return {**result, "found": {name: Found(**each) for name, each in result.get("found", {}).items()}}
    except (ValueError, TypeError, AttributeError):
        return {"unreadable": MEDDLED}


def run(job: Job) -> Iterator[Judged]:
    """The verdicts, criterion after criterion, as they come in."""
    with _pool(WORKERS, 1) as players, _pool(1, 0) as judges:
        try:
            plays = {criterion: _start(players, job, criterion) for criterion in _wanted(job)}
            tired: dict[str, tuple[str, Outcome]] = {}  # a function without end -> what showed it, and how
            for number, (criterion, future) in enumerate(plays.items(), 1):
                if criterion.of in tired:
                    text: str | Remark = _tired(future, criterion, *tired[criterion.of])
                else:
                    text = _text(job, future, criterion.of, f"check {number} of {len(plays)}: {criterion.name}")
                remarks = _remarks(judges, text)
                endless = next((remark.outcome for remark, _ in remarks if remark.outcome in ENDLESS), None)
                if endless:
                    tired.setdefault(criterion.of, (criterion.name, endless))
                yield Judged(criterion, remarks)
        except BaseException as error:
            players.stop()
            judges.stop()
            if isinstance(error, BrokenProcessPool):
                raise NotStarted from error
            raise


def _wanted(job: Job) -> list[Criterion]:
    return [c for c in job.drill.criteria if c.of in job.found and (job.only is None or c.name == job.only.check)]


def _start(pool: ProcessPool, job: Job, criterion: Criterion) -> Any:
    settings = [job.only] if job.only else _settings(job, criterion)
    args = (settings, job.found[criterion.of].actual, job.answer, job.limits)
    return pool.schedule(child.play, args=args, timeout=job.limits.seconds)


def _settings(job: Job, criterion: Criterion) -> list[Setting]:
    variants = job.drill.trials[criterion.name].variants * ROUNDS
    about = job.drill.name, criterion.name
    return [Setting(*about, v, job.seed + n, job.limits.patience) for n, v in enumerate(variants)]


def _text(job: Job, future: Any, what: str, doing: str) -> str | Remark:
    """What a process handed over, or a remark on how it ended instead."""
    seconds = job.limits.seconds
    patience = time.monotonic() + START + len(job.drill.criteria) * seconds  # some wait for others to end
    while not wait([future], timeout=TICK).done:
        job.tick(doing)
        if time.monotonic() > patience:
            raise NotStarted
    error = future.exception()  # not raised here: an answer may end in anything, KeyboardInterrupt included
    match error:
        case None:
            return str(future.result())
        case TooLong():
            return Remark(Outcome.TIME_OUT, SLOW.format(what=what, seconds=seconds, more=3 * seconds))
        case MemoryError():
            return Remark(Outcome.MEMORY, f"{what} used more than {job.limits.megabytes} MB.")
        case ProcessExpired():
            how = "by os._exit" if error.exitcode == child.UNASKED else f"exit status {error.exitcode}"
            return Remark(Outcome.ERROR, f"{what} ended the whole Python process ({how}).")
        case BrokenProcessPool():
            raise NotStarted from error
    return Remark(Outcome.ERROR, f"{what} could not be tested: {type(error).__name__}: {error}.")


def _tired(future: Any, criterion: Criterion, first: str, outcome: Outcome) -> Remark:
    """One endless loop is waited for once, not once a check."""
    future.cancel()
    return Remark(outcome, f"Not played: {criterion.of} {ENDLESS[outcome]} in the check «{first}».")


def _remarks(judges: ProcessPool, text: str | Remark) -> tuple[tuple[Remark, Run | None], ...]:
    if isinstance(text, Remark):
        return ((text, None),)
    try:
        left = json.loads(text)
        if isinstance(left, dict):
            return ((Remark(Outcome.ERROR, str(left["ended"])), None),)
        runs = child.read_runs(text)
        rows = json.loads(str(judges.schedule(child.judge, args=(text,)).result()))
    except (ValueError, TypeError, AttributeError, KeyError):
        return ((Remark(Outcome.ERROR, MEDDLED), None),)
    remarks = [Remark(Outcome(row["outcome"]), row["message"], tuple(row["evidence"])) for row in rows]
    return tuple(zip(remarks, runs, strict=True)) or ((Remark(Outcome.ERROR, MEDDLED), None),)


MEDDLED = "What came back from the process of this check is no record of a run: the answer has changed labkit there."
ENDLESS = {Outcome.TIME_OUT: "did not come back", Outcome.MEMORY: "asked for too much memory"}
SLOW = (
    "{what} did not come back within {seconds:g} seconds, so it was stopped. A loop that never ends does this; if "
    "yours is only slow, give it more: check(…, seconds={more:g}), or --seconds {more:g}."
)
