"""The far side of a check: what runs in a process of its own, under limits.

`survey` says which functions an answer has, `play` puts one of them to the test, `judge` decides; each call has a
process to itself, so nothing that an answer does to its process reaches another check. All three hand over text
(JSON), never objects: what an answer makes is not unpickled where the verdict is formed.
Out of scope: an answer that is written to break out. It runs with the rights of whoever checks it.
"""

from __future__ import annotations

import gc
import io
import json
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from ..recording import sentence
from ..sim import RanAway, Stuck, WorldError
from ..sim.substitute import substituted
from ..timeline import Timeline
from .answer import Answer, Unreadable, find, unpack
from .drill import load
from .trial import Outcome, Remark, Run, Setting, Trial
from .where import line_of_answer, relabelled

if sys.platform != "win32":
    import resource

PRINTED = 500  # characters of what an answer prints are shown
UNASKED = 99  # in place of exit status 0, which pebble takes for a worker that has served its time
GRACE = 3  # seconds of processor time beyond the limit, for a process whose parent has died


@dataclass(frozen=True)
class Limits:
    """seconds: real time of one check.  megabytes: memory beyond what the process has at its start."""

    seconds: float = 4.0
    megabytes: int = 512

    @property
    def patience(self) -> float:
        """Real seconds that one run of a check may stand still, for a world to name the line and stop it."""
        return self.seconds / 4


inside = False  # whether this process plays an answer: `check` then does nothing


def survey(question: str, answer: Answer, limits: Limits) -> str:
    """JSON: what answers to which name, and what went wrong while the answer's code ran."""
    wanted, search = load(question).functions, find  # before an answer's own code can touch them
    try:
        with _confined(limits), substituted():
            names, troubles = unpack(answer, wanted)
        found = search(names, wanted)
        return json.dumps({"found": {name: asdict(each) for name, each in found.items()}, "troubles": troubles})
    except Unreadable as error:
        return json.dumps({"unreadable": relabelled(str(error))})
    except BaseException as error:
        return json.dumps({"unreadable": f"The code around your functions {ended(error)}."})


def play(settings: Sequence[Setting], actual: str, answer: Answer, limits: Limits) -> str:
    """JSON: a run for each setting of one check, up to the first that had to be stopped; or how the process ended."""
    try:
        return _play(settings, actual, answer, limits)
    except BaseException as error:  # never handed over as it is: it may be a class of the answer's own
        return json.dumps({"ended": f"{settings[0].check}: your answer {ended(error)}."})


def ended(error: BaseException) -> str:
    return f"ended with {sentence(error)[:120]}, at {line_of_answer(error)}"


def _play(settings: Sequence[Setting], actual: str, answer: Answer, limits: Limits) -> str:
    runs = []
    trial = load(settings[0].question).trials[settings[0].check]
    with _confined(limits) as printed:
        with substituted():
            function = unpack(answer, [actual])[0][actual]
        for setting in settings:
            runs.append(_played(trial, function, setting, limits) | {"printed": printed()})
            if runs[-1]["stopped"]:
                break
    return json.dumps(runs)


def _played(trial: Trial, function: Any, setting: Setting, limits: Limits) -> dict[str, Any]:
    run: dict[str, Any] = {"setting": asdict(setting), "facts": {}, "timeline": None, "stopped": None}
    timeline = None
    try:
        facts, timeline = trial.play(function, setting)
        run["facts"] = dict(facts)
    except MemoryError as error:
        run["stopped"] = (Outcome.MEMORY, f"{trial.of} asked for too much memory, {ran_out(error, limits)}.")
    except WorldError as error:
        timeline = error.timeline
        run["stopped"] = _stopped(error, trial.of, limits)
    if timeline is not None:
        run["timeline"] = timeline.to_json()
    return run


def _stopped(error: WorldError, what: str, limits: Limits) -> tuple[Outcome, str]:
    if isinstance(error.__cause__, MemoryError):
        return Outcome.MEMORY, f"{what} asked for too much memory, {ran_out(error.__cause__, limits)}."
    if isinstance(error, Stuck) and memory_used() > limits.megabytes * 2**19:
        used = f"By then it had taken {memory_used() >> 20} MB more; {limits.megabytes} MB are allowed."
        return Outcome.MEMORY, f"{relabelled(str(error))} {used}"
    return Outcome.TIME_OUT if isinstance(error, (RanAway, Stuck)) else Outcome.ERROR, relabelled(str(error))


def ran_out(error: MemoryError, limits: Limits) -> str:
    """Where memory ran out. Gives back what the failed frames hold: the rest of the check needs room."""
    where = line_of_answer(error)
    traceback.clear_frames(error.__traceback__)
    gc.collect()
    return f"more than {limits.megabytes} MB, at {where}"


def judge(runs: str) -> str:
    """JSON: a remark on each run that came to its end. Runs where no answer has been."""
    return json.dumps([asdict(_judged(run)) for run in read_runs(runs)])


def _judged(run: Run) -> Remark:
    if run.stopped:
        return Remark(*run.stopped)
    remark = load(run.setting.question).trials[run.setting.check].judge(run)
    return Remark(remark.outcome, relabelled(remark.message), remark.evidence)


def read_runs(text: str) -> list[Run]:
    """The runs that `play` wrote down. Raises ValueError for anything else."""
    return [_read_run(row) for row in json.loads(text)]


def _read_run(row: Mapping[str, Any]) -> Run:
    timeline = Timeline.from_json(row["timeline"]) if row["timeline"] else None
    stopped = (Outcome(row["stopped"][0]), str(row["stopped"][1])) if row["stopped"] else None
    return Run(Setting(**row["setting"]), row["facts"], timeline, stopped, str(row["printed"]))


# -- confinement -----------------------------------------------------------------------------------------------------


@contextmanager
def _confined(limits: Limits) -> Iterator[Any]:
    """Silence, limits, and a first-hand SIGINT (by which the world stops code that blocks). Yields a function that
    gives what was printed so far."""
    global inside
    inside = True
    quiet = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(quiet, standard)
    printed = io.StringIO()
    sys.stdin, sys.stdout, sys.stderr = open(os.devnull), printed, io.StringIO()  # noqa: SIM115
    signal.signal(signal.SIGINT, signal.default_int_handler)
    leave = os._exit
    os._exit = lambda status: leave(status or UNASKED)
    threading.stack_size(2**18)  # an answer's threads are not what fills the memory
    restrict(limits)
    yield lambda: printed.getvalue()[:PRINTED] if not printed.closed else ""


def restrict(limits: Limits) -> None:
    """Takes memory and processor time away from this process, where the system can."""
    global _at_start
    if sys.platform == "win32":
        return
    with_what = {resource.RLIMIT_CPU: (int(limits.seconds) + GRACE, int(limits.seconds) + 2 * GRACE)}
    if enforces_memory():
        _at_start = memory_now()
        most = _at_start + limits.megabytes * 2**20
        with_what[resource.RLIMIT_AS] = (most, most)
    for kind, (soft, hard) in with_what.items():
        ceiling = resource.getrlimit(kind)[1]
        hard = hard if ceiling == resource.RLIM_INFINITY else min(hard, ceiling)
        resource.setrlimit(kind, (min(soft, hard), hard))


def enforces_memory() -> bool:
    """Linux alone keeps a process to its address space; elsewhere a memory bomb meets the time limit, if any."""
    return sys.platform == "linux"


_at_start = 0


def memory_used() -> int:
    """The most address space taken since the limits were set, in bytes; 0 where that is not known. The most, not what
    is taken now: an answer that was stopped has given all of it back by the time it is asked."""
    if not enforces_memory():
        return 0
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        peak = next((line for line in file if line.startswith("VmPeak:")), "VmPeak: 0 kB")
    return int(peak.split()[1]) * 1024 - _at_start


def memory_now() -> int:
    """The address space of this process, in bytes (Linux)."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
