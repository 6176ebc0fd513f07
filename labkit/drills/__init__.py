"""The drill kit: questions as an interviewer asks them, answers that are put to the test.

    from labkit.drills import check, hint, model_answer, rubric
    check("q1", tolerated_misses, longest_interval, keep_alive)     # in a notebook
    labkit check q1 answer.py                                       # in a shell: the same verdict

An answer runs in processes of its own, under limits of time and memory, in a world in virtual time with seeds that are
new each time. Each attempt is written into the learner's progress file, a play that is had again is not.
"""

from __future__ import annotations

import secrets
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from .. import progress
from . import child, runner
from .answer import Found, Unreadable, find, from_file, from_functions
from .child import Limits
from .drill import NAMES, Drill, load
from .ladder import hint, model_answer, rubric
from .report import Finding, Report, finding
from .runner import Job
from .show import Ticker
from .trial import Outcome, Setting

__all__ = ["NAMES", "Drill", "Finding", "Limits", "Outcome", "Report", "check", "check_file", "hint", "load"]
__all__ += ["model_answer", "not_attempted", "rubric"]


NOTHING = "None of its functions is there: {}."


def not_attempted() -> None:
    """What stands in an exercise where the answer goes. It does nothing; `check` knows a function that is only this."""


def check(
    question: str,
    *functions: Callable[..., Any],
    again: str | None = None,
    seconds: float = Limits.seconds,
    seed: int | None = None,
    **named: Callable[..., Any],
) -> Report:
    """Checks your functions for `question` ("q1"), given in any order; without any, those of your notebook.

    again: the string that a failure prints, for that one play.  seconds: real time for each check.  seed: from 1 on,
    to have the same plays again.  named: a function under another name than the contract's, `keep_alive=mine`.
    Raises ValueError for an unknown question or string, TypeError for what is no function, before anything runs."""
    drill, only = load(question), _setting(question, again, seconds)
    functions = tuple(function for function in functions if function is not None)  # not written yet
    given = _given(drill, functions, named) or dict(sys._getframe(1).f_globals)
    if child.inside:
        return Report(question, drill.title, "an answer under test", refused="A check inside of a check does nothing.")
    found = find(given, drill.functions, chosen=bool(functions or named))
    if not found:
        return Report(question, drill.title, "your notebook", refused=NOTHING.format(", ".join(drill.functions)))
    try:
        answer = from_functions({each.actual: given[each.actual] for each in found.values() if not each.stub})
    except Unreadable as error:
        return Report(question, drill.title, "your notebook", refused=str(error))
    with Ticker() as tick:
        return _checked(Job(drill, answer, Limits(seconds), found, _seed(seed), only, tick), ())


def check_file(
    question: str,
    path: str | Path,
    again: str | None = None,
    seconds: float = Limits.seconds,
    seed: int | None = None,
    record: bool = True,
) -> Report:
    """Checks the answer in a .py or .ipynb file, as `check` does. record: whether it counts as an attempt of whoever
    runs this. Raises ValueError for an unknown question or string; a file that cannot be read or run is said in the
    report."""
    drill, only = load(question), _setting(question, again, seconds)
    try:
        answer = from_file(Path(path))
    except Unreadable as error:
        return Report(question, drill.title, str(path), refused=str(error))
    with Ticker() as tick:
        return _surveyed(Job(drill, answer, Limits(seconds), seed=_seed(seed), only=only, tick=tick), record)


def _surveyed(job: Job, record: bool) -> Report:
    """Finds the functions of a file first."""
    drill, label = job.drill, job.answer.label
    try:
        survey = runner.survey(job)
    except runner.NotStarted as error:
        return Report(drill.name, drill.title, label, refused=str(error))
    if "unreadable" in survey:
        return Report(drill.name, drill.title, label, refused=survey["unreadable"])
    if not survey["found"]:
        nothing = " ".join([NOTHING.format(", ".join(drill.functions)), *survey["troubles"]])
        return Report(drill.name, drill.title, label, refused=nothing)
    return _checked(replace(job, found=survey["found"]), tuple(survey["troubles"]), record)


def _given(drill: Drill, functions: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
    for name, function in [*((repr(f)[:60], f) for f in functions), *named.items()]:
        if not callable(function):
            raise TypeError(f"check wants functions, not {name}: {', '.join(drill.functions)}.")
    unknown = sorted(set(named) - set(drill.functions))
    if unknown:
        raise ValueError(f"{drill.name} has no function {unknown[0]!r}; it has {', '.join(drill.functions)}.")
    names = [getattr(f, "__name__", "function") for f in functions]  # of decorated ones, all may be called «wrapper»
    unique = [name if names.count(name) == 1 else f"{name} no. {n}" for n, name in enumerate(names, 1)]
    return dict(zip(unique, functions, strict=True)) | dict(named)


def _setting(question: str, again: str | None, seconds: float) -> Setting | None:
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0.1 <= seconds <= 600:
        raise ValueError(f"seconds={seconds!r} is no time for a check: give seconds, from 0.1 to 600.")
    if again is None:
        return None
    drill, words = load(question), str(again).split(":")
    names = {name.replace(" ", "-"): name for name in drill.trials}
    if len(words) == 4 and words[0] == question and words[1] in names and words[3].isdecimal():
        check = names[words[1]]
        if words[2] in drill.trials[check].variants:
            return Setting(question, check, words[2], int(words[3]), Limits(seconds).patience)
    raise ValueError(f"again={again!r} is no play of {question}: it reads «{question}:check:variant:seed».")


def _seed(seed: int | None) -> int:
    """Fresh each time, so that an answer which knows names or numbers by heart meets others."""
    if seed is None:
        return secrets.randbelow(10**6) + 1
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 1:
        raise ValueError(f"seed={seed!r} is no seed: give a whole number from 1 on.")
    return seed


def _checked(job: Job, notes: tuple[str, ...], record: bool = True) -> Report:
    drill = job.drill
    ready = {name: each for name, each in job.found.items() if not each.stub and not each.problem}
    try:
        judged = {j.criterion: finding(j) for j in runner.run(replace(job, found=ready))} if ready else {}
    except runner.NotStarted as error:
        return Report(drill.name, drill.title, job.answer.label, refused=str(error))
    wanted = [c for c in drill.criteria if job.only is None or c.name == job.only.check]
    findings = tuple(judged[c] if c in judged else _unplayed(c, job.found.get(c.of)) for c in wanted)
    report = Report(drill.name, drill.title, job.answer.label, findings, (*_notes(job.found), *notes, *_limits(ready)))
    if job.only is None and record:
        outcomes = {each.check: str(each.outcome) for each in findings}
        progress.note_attempt(drill.name, report.score, report.of, outcomes, job.seed)
    return report


def _unplayed(criterion: Any, found: Found | None) -> Finding:
    about = (criterion.name, criterion.asks, criterion.of)
    if found is None:
        missing = f"There is no function {criterion.of}, nor one that could be meant by it."
        return Finding(*about, Outcome.ERROR, criterion.points, missing)
    if found.stub:
        return Finding(*about, Outcome.NOT_ATTEMPTED, criterion.points)
    return Finding(*about, Outcome.ERROR, criterion.points, found.problem)


def _notes(found: Mapping[str, Found]) -> list[str]:
    return [f"I take your {each.actual} for {name}." for name, each in found.items() if each.actual != name]


def _limits(ready: Mapping[str, Found]) -> list[str]:
    if not ready or child.enforces_memory():
        return []
    return ["Memory cannot be limited on this system: an answer that eats it up is stopped by the time limit only."]
