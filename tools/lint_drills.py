"""Lint the drills: each question is complete, and its checks say of every planted answer what is declared of it.

    python tools/lint_drills.py [--seed N] [question ...]       without names: every question

The right answers, the model answer and the solution must get full points; a wrong answer, whose first line reads
`loses: a, b`, must lose each of these checks in three sets of plays on seeds of their own, so that no verdict hangs on
luck; the exercise must be «not attempted» in every check. Answers are played in this process, once a variant: they are
ours. What hostile ones do to the process that checks them is for tests/drills/test_hostile.py. The file is long because
it is a list: one line for each thing that can be amiss.
"""

from __future__ import annotations

import argparse
import ast
import io
import os
import re
import secrets
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from labkit.drills import child
from labkit.drills.answer import Found, find, from_file, unpack
from labkit.drills.drill import NAMES, Criterion, Drill, load
from labkit.drills.report import Finding, finding
from labkit.drills.runner import Judged
from labkit.drills.trial import Outcome, Remark, Run, Setting
from labkit.sim import WorldError
from labkit.sim.substitute import substituted
from labkit.stories import STORIES

ROOT = Path(__file__).resolve().parent.parent
SETS = 3  # of seeds, in each of which a wrong answer must lose its checks
PATIENCE = 10.0  # seconds of real time that one step of an answer may take: a busy machine is no fault of it
TELLING = 12  # characters; a shorter line of the model answer, such as `return True`, gives nothing away
PLAIN = re.compile(r"import |from |def |class |@|#|else:|try:")  # how a line begins that is no part of the idea
FULL, UNTOUCHED = "full points", "not attempted"


@dataclass(frozen=True)
class Row:
    """One answer beside what is declared of it. message: of its first declared check.  complaints: whatever is not as
    declared, in whole sentences."""

    file: str
    expected: str
    score: int
    of: int
    lost: tuple[str, ...]
    message: str
    complaints: tuple[str, ...]


def main(arguments: list[str] | None = None) -> int:
    """Print the table of each question named; return 0 if all is as declared, else 1."""
    options = _options(arguments)
    complaints: list[str] = []
    for question in options.questions or NAMES:
        rows = [examine(question, path, options.seed) for path in answers(question)]
        Console().print(_table(question, rows))
        complaints += [f"{row.file}: {complaint}" for row in rows for complaint in row.complaints]
        complaints += [f"{question}: {fault}" for fault in faults(load(question))]
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    print(f"{len(complaints)} complaint(s)." if complaints else "All is as declared.")
    return 1 if complaints else 0


# --- the answers


def answers(question: str) -> list[Path]:
    """Every answer to a question of which something is declared; hostile ones are not among them."""
    drill = ROOT / "labkit" / "drills" / question
    books = [drill / "exercise.ipynb", *(ROOT / place / f"{question}.ipynb" for place in ("exercises", "solutions"))]
    named = [path for path in (*books, drill / "model.py") if path.exists()]
    return [*named, *planted("right", question), *planted("wrong", question)]


def planted(kind: str, question: str) -> list[Path]:
    """The right answers or the wrong answers to a question, as `kind` says."""
    return sorted((ROOT / "tests" / f"{kind}_answers" / question).glob("*.py"))


def declared(path: Path) -> tuple[str, ...]:
    """The checks that a wrong answer says it loses; none where it says nothing."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    first = text.partition("\n")[0]
    return tuple(name.strip() for name in first.removeprefix("loses:").split(",")) if first.startswith("loses:") else ()


def examine(question: str, path: Path, seed: int | None = None) -> Row:
    """Plays one answer and compares. seed: of the first set of plays, fresh without one."""
    drill, first = load(question), seed if seed is not None else secrets.randbelow(10**6) + 1
    found = played(drill, path, first)
    if path.parent.name == "exercises" or path.name == "exercise.ipynb":
        return _row(path, UNTOUCHED, found, _touched(found))
    if path.parent.parent.name != "wrong_answers":
        return _row(path, FULL, found, _missed(found))
    losing = declared(path)
    more = [played(drill, path, first + 1000 * n, losing) for n in range(1, SETS)]
    complaints = [*_undeclared(drill, losing), *_kept(losing, [found, *more]), *_given_away(drill, path, found)]
    message = next((found[name].message for name in losing if name in found), "")
    return _row(path, f"loses {', '.join(losing)}", found, complaints, message)


def played(drill: Drill, path: Path, seed: int, only: Iterable[str] | None = None) -> dict[str, Finding]:
    """The verdict on each criterion, or on those of `only`, from one play of each variant."""
    with _quiet():
        with substituted():
            names = unpack(from_file(path), drill.functions)[0]
        found = find(names, drill.functions)
        wanted = [c for c in drill.criteria if only is None or c.name in only]
        return {c.name: _verdict(drill, c, found.get(c.of), names, seed) for c in wanted}


def _verdict(drill: Drill, criterion: Criterion, found: Found | None, names: Mapping[str, Any], seed: int) -> Finding:
    if found is None or found.problem:
        problem = found.problem if found else f"There is no function {criterion.of}."
        return finding(Judged(criterion, ((Remark(Outcome.ERROR, problem), None),)))
    if found.stub:
        return finding(Judged(criterion, ((Remark(Outcome.NOT_ATTEMPTED), None),)))
    variants = enumerate(drill.trials[criterion.name].variants)
    settings = [Setting(drill.name, criterion.name, variant, seed + n, PATIENCE) for n, variant in variants]
    return finding(Judged(criterion, tuple(_remark(drill, names[found.actual], setting) for setting in settings)))


def _remark(drill: Drill, function: Any, setting: Setting) -> tuple[Remark, Run]:
    trial = drill.trials[setting.check]
    try:
        run = Run(setting, *trial.play(function, setting))
    except WorldError as error:
        return Remark(Outcome.ERROR, str(error)), Run(setting)
    return trial.judge(run), run


@contextmanager
def _quiet() -> Iterator[None]:
    """Nothing of what an answer prints or warns is seen, and a `check` in it does nothing."""
    before, child.inside = child.inside, True
    try:
        with warnings.catch_warnings(), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        child.inside = before


# --- what is not as declared


def _touched(found: Mapping[str, Finding]) -> list[str]:
    odd = [each for each in found.values() if each.outcome is not Outcome.NOT_ATTEMPTED]
    return [f"«{each.check}» is {each.outcome} where nobody has written anything: {each.message}" for each in odd]


def _missed(found: Mapping[str, Finding]) -> list[str]:
    odd = [each for each in found.values() if each.outcome is not Outcome.PASS]
    return [f"«{each.check}» is {each.outcome}: {each.message} ({each.again})" for each in odd]


def _undeclared(drill: Drill, losing: tuple[str, ...]) -> list[str]:
    if not losing:
        return ["Its first line does not read «loses: …»."]
    return [f"{drill.name} has no check «{name}»." for name in losing if name not in drill.trials]


def _kept(losing: tuple[str, ...], sets: list[dict[str, Finding]]) -> list[str]:
    pairs = [(n, name) for n, found in enumerate(sets, 1) for name in losing if name in found]
    kept = [(n, name) for n, name in pairs if sets[n - 1][name].outcome in (Outcome.PASS, Outcome.NOT_ATTEMPTED)]
    return [f"«{name}» is {sets[n - 1][name].outcome} in set {n} of {len(sets)}." for n, name in kept]


def _given_away(drill: Drill, path: Path, found: Mapping[str, Finding]) -> list[str]:
    """A message may quote the learner's own lines, and no other of the model answer."""
    own = path.read_text(encoding="utf-8")
    shown = [line for line in telling(drill) if line not in own]
    return [
        f"The message of «{f.check}» shows «{line}»." for f in found.values() for line in shown if line in f.message
    ]


def telling(drill: Drill) -> list[str]:
    """The lines of the model answer that would give it away."""
    model = ROOT / "labkit" / "drills" / drill.name / "model.py"
    lines = model.read_text(encoding="utf-8").splitlines() if model.exists() else []
    stripped = dict.fromkeys(line.strip() for line in lines)
    return [line for line in stripped if len(line) > TELLING and not PLAIN.match(line)]


# --- the question itself


def faults(drill: Drill) -> list[str]:
    """What is missing from a question, or does not fit together."""
    return [*_of_points(drill), *_of_words(drill), *_of_rubric(drill), *_of_answers(drill)]


def _of_points(drill: Drill) -> list[str]:
    names, trials = [c.name for c in drill.criteria], drill.trials
    found = [] if drill.points == 20 else [f"The points are {drill.points} in all, not 20."]
    found += [f"«{c.name}» is worth {c.points} points." for c in drill.criteria if c.points < 1]
    found += [f"«{name}» stands there twice." for name in set(names) if names.count(name) > 1]
    found += [f"«{name}» is never put to the test." for name in names if name not in trials]
    found += [f"The trial «{name}» counts for nothing." for name in trials if name not in names]
    found += [f"{f} is judged by nothing." for f in drill.functions if f not in {c.of for c in drill.criteria}]
    differing = [c for c in drill.criteria if c.name in trials and trials[c.name].of != c.of]
    return found + [f"«{c.name}» judges {c.of}, its trial {trials[c.name].of}." for c in differing]


def _of_words(drill: Drill) -> list[str]:
    found = [] if len(drill.hints) == 3 else [f"There are {len(drill.hints)} hints, not 3."]
    found += [f"Hint {n} is too short to help." for n, hint in enumerate(drill.hints, 1) if len(hint.split()) < 5]
    found += ["The question is too short to be one."] if len(drill.question.split()) < 5 else []
    return found + [
        f"Hint {n} shows «{line}»." for n, hint in enumerate(drill.hints, 1) for line in telling(drill) if line in hint
    ]


def _of_rubric(drill: Drill) -> list[str]:
    rubric = drill.rubric
    parts = {"key points": rubric.key_points, "wrong": rubric.wrong, "follow-ups": rubric.follow_ups}
    found = [f"The rubric has no {name}." for name, entries in parts.items() if not entries]
    short = [text for text in (*rubric.key_points, *rubric.wrong) if len(text.split()) < 3]
    found += [f"«{text}» in the rubric says nothing." for text in short]
    found += [f"No story is called {each.story!r}." for each in rubric.follow_ups if each.story not in STORIES]
    return found + [f"«{each.asks}» has no answer." for each in rubric.follow_ups if not each.answer.strip()]


def _of_answers(drill: Drill) -> list[str]:
    rights, wrongs = planted("right", drill.name), planted("wrong", drill.name)
    counts = ((len(rights), 4, "right"), (len(wrongs), 8, "wrong"))
    found = [f"There are {n} {kind} answers; at least {least} are wanted." for n, least, kind in counts if n < least]
    lost = {name for path in wrongs for name in declared(path)}
    return found + [f"No wrong answer loses «{c.name}»." for c in drill.criteria if c.name not in lost]


# --- the table


def _row(path: Path, expected: str, found: Mapping[str, Finding], complaints: Iterable[str], message: str = "") -> Row:
    findings = found.values()
    lost = tuple(each.check for each in findings if each.outcome is not Outcome.PASS)
    score, of = sum(each.points for each in findings), sum(each.worth for each in findings)
    return Row(os.path.relpath(path, ROOT), expected, score, of, lost, message, tuple(complaints))


def _table(question: str, rows: list[Row]) -> Table:
    table = Table("", "answer", "declared", "points", "lost", "message", title=question)
    for row in rows:
        lost = "all" if len(row.lost) == len(load(question).criteria) else ", ".join(row.lost)
        mark = "✗" if row.complaints else "✓"
        table.add_row(mark, Path(row.file).name, row.expected, f"{row.score}/{row.of}", lost, row.message)
    return table


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="lint_drills.py", description=str(__doc__).partition("\n")[0])
    parser.add_argument("--seed", type=int, help="of the first set of plays; fresh without it")
    parser.add_argument("questions", nargs="*", type=_known, help=f"of {', '.join(NAMES)}; all without any")
    return parser.parse_args(arguments)


def _known(question: str) -> str:
    if question not in NAMES:
        raise argparse.ArgumentTypeError(f"no question is called {question!r}; there are {', '.join(NAMES)}")
    return question


if __name__ == "__main__":
    sys.exit(main())
