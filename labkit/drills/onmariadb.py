"""The checks of a question on a real MariaDB, without points: what stands in a database is often asked of MySQL.

    python -m labkit.drills.onmariadb q4 answer.py

The plays are those that count, seed for seed; only the stage is another. The answer's code runs in this process: it is
meant for whoever wrote it. Answers that use what SQLite alone knows (`BEGIN IMMEDIATE`, `ON CONFLICT`) fail here, and
lose nothing.
"""

from __future__ import annotations

import argparse
import importlib
import secrets
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..live import ServerFailed
from ..live.mariadb import MariaDbNotFound, MariaDbServer
from ..sim import WorldError
from ..sim.substitute import substituted
from . import child
from .answer import Unreadable, find, from_file, unpack
from .drill import Criterion, Drill, load
from .mariastage import stage_on
from .report import Finding, finding
from .runner import Judged
from .trial import Outcome, Remark, Run, Setting

QUESTIONS = ("q3", "q4")  # those whose bench plays on `SqlStage`
PATIENCE = 10.0  # seconds of real time that one step may take


@dataclass(frozen=True)
class Shown:
    """What became of one check on MariaDB."""

    check: str
    outcome: Outcome
    message: str

    def __str__(self) -> str:
        mark = {Outcome.PASS: "✓"}.get(self.outcome, "✗")
        return f"  {mark} {self.check:28} {'' if mark == '✓' else f'{self.outcome}. {self.message}'}".rstrip()


def shown(server: MariaDbServer, question: str, path: Path, seed: int, only: str = "") -> list[Shown]:
    """Plays every variant of every check once on `server`. only: of this check. Raises Unreadable for a file that is no
    answer."""
    drill = load(question)
    with _playing(), substituted():
        names = unpack(from_file(path), drill.functions)[0]
    with _on(server, question):
        return [_shown(_finding(drill, each, names, seed)) for each in drill.criteria if only in ("", each.name)]


def _shown(found: Finding) -> Shown:
    return Shown(found.check, found.outcome, found.message)


def _finding(drill: Drill, criterion: Criterion, names: Mapping[str, Any], seed: int) -> Finding:
    found = find(names, drill.functions).get(criterion.of)
    if found is None or found.problem or found.stub:
        why = found.problem if found and found.problem else f"There is no {criterion.of} yet."
        return finding(Judged(criterion, ((Remark(Outcome.NOT_ATTEMPTED, why), None),)))
    trial = drill.trials[criterion.name]
    settings = [Setting(drill.name, criterion.name, name, seed + n, PATIENCE) for n, name in enumerate(trial.variants)]
    return finding(Judged(criterion, tuple(_played(drill, names[found.actual], setting) for setting in settings)))


def _played(drill: Drill, function: Any, setting: Setting) -> tuple[Remark, Run]:
    trial = drill.trials[setting.check]
    try:
        with _playing():
            run = Run(setting, *trial.play(function, setting))
    except WorldError as error:
        return Remark(Outcome.ERROR, str(error)), Run(setting)
    return trial.judge(run), run


@contextmanager
def _on(server: MariaDbServer, question: str) -> Iterator[None]:
    """The question's bench sets its plays on MariaDB for as long as this lasts."""
    bench: Any = importlib.import_module(f"labkit.drills.{question}.bench")
    before, bench.SqlStage = bench.SqlStage, stage_on(server)
    try:
        yield
    finally:
        bench.SqlStage = before


@contextmanager
def _playing() -> Iterator[None]:
    """A `check` in the answer's own file does nothing."""
    before, child.inside = child.inside, True
    try:
        yield
    finally:
        child.inside = before


def main(arguments: list[str] | None = None) -> int:
    """Prints what became of each check; 0 if all pass, 1 if not, 2 if nothing could be run."""
    parser = argparse.ArgumentParser(prog="labkit.drills.onmariadb", description=str(__doc__).partition("\n")[0])
    parser.add_argument("question", choices=QUESTIONS)
    parser.add_argument("answer", type=Path, help="a .py or .ipynb file")
    parser.add_argument("--seed", type=int, help="of the first play; fresh without it")
    options = parser.parse_args(arguments)
    seed = options.seed if options.seed is not None else secrets.randbelow(10**6) + 1
    try:
        with MariaDbServer() as server:
            rows = shown(server, options.question, options.answer, seed)
    except (MariaDbNotFound, ServerFailed, Unreadable) as error:
        print(error, file=sys.stderr)
        return 2
    passed = sum(row.outcome is Outcome.PASS for row in rows)
    print(f"{options.question} on MariaDB: {passed} of {len(rows)} checks, seed {seed}. There are no points for this.")
    print(*rows, sep="\n")
    return 0 if passed == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
