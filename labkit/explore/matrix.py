"""The safety matrix: for each lock of the course and each mishap, the shortest schedule that breaks it, or the
statement that none does within stated bounds. Every cell is the outcome of a search; nothing is typed in.

    for cell in cells(rows=["R3"]): print(cell)      all of it: labkit matrix

A column is a kind of mishap and the claims that it might break. The search places it, when and at whom, and one mishap
more (`full`: two; a lock on several machines has so many commands that it is none and one). U: some schedule breaks a
claim, and it takes the column's mishap to do so. D: none does, but in some schedule two clients believed at once, or
the store had to refuse one. S: neither. A dash: the mishap cannot happen to this lock. A U with the schedule «.» takes
no mishap at all: the work outlasts a lease that nobody renews.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from typing import Any

from ..checks import CHECKS
from ..checks._spans import refused
from ..sim import ClientDied
from ..stories import play
from ..stories.increment import ALL, OTHERS, ROWS
from ..timeline import Timeline
from ..verdict import Verdict
from .searching import Found, Outcome, search

EXTRA = ("pause", "lose")  # what may happen besides, in quick mode
MORE = ("mute", "crash")  # and in full mode
DATA = ("no_stale_write", "no_lost_update")


@dataclass(frozen=True)
class Column:
    """says: the mishap in words.  kinds: of fault, one of which must strike.  claims: names of checks.  params: of the
    story.  bare: a quorum lock is played with no more than a bare majority within reach.  extra: kinds of
    mishap that may happen besides.  but: rows to which it cannot happen."""

    says: str
    kinds: tuple[str, ...]
    claims: tuple[str, ...] = DATA
    params: dict[str, Any] = field(default_factory=dict)
    bare: bool = False
    extra: tuple[str, ...] = EXTRA
    but: tuple[str, ...] = ()


QUORUM = tuple(name for name, row in ALL.items() if len(row.servers) > 1)  # no failover among their nodes
SEVERAL = (*QUORUM, *(name for name, row in ALL.items() if row.ensemble))  # machines
COLUMNS = {
    "F1": Column("a client dies between two commands", ("crash",), ("not_stuck", *DATA)),
    "F2": Column("a client stands still for longer than the TTL", ("pause",)),
    "F3": Column("a request arrives late", ("delay",)),
    "F4": Column("a failover forgets the grant", ("failover",), params={"replica": 1}, but=QUORUM),
    "F5": Column("a server's clock jumps", ("step",), bare=True),
    "F6": Column("a server restarts without its data", ("restart",), bare=True),
    "F7": Column("a client is cut off from a server", ("cut",), params={"work": 12.0}),
    "F8": Column("renewals are lost", ("lose",), params={"work": 12.0}, but=("R1", "R2", "R3", "R10"), extra=()),
    "F9": Column("a late release", ("pause", "delay"), ("own_release",), but=("R10",)),
    "F10": Column("an effect outside, and a crash", ("crash",), ("once",), params={"effect": "charge"}),
}


@dataclass(frozen=True)
class Cell:
    """One search. verdict: S, D, U, "?" (the budget was spent) or a dash.  schedule, replay: of a U the break, of a D
    the run in which it took the store to keep the data safe.  bounds: within which an S or a D was exhausted."""

    row: str
    column: str
    verdict: str
    schedule: str = ""
    replay: str = ""
    bounds: str = ""
    runs: int = 0
    why: str = ""

    def __str__(self) -> str:
        head = f"{self.row} under {self.column} ({COLUMNS[self.column].says}): {self.verdict}"
        how = f", {self.schedule}: {self.why}" if self.verdict == "U" else f", {self.why}" if self.why else ""
        return f"{head}{how} ({self.runs} runs)"


def cells(
    rows: Iterable[str] = tuple(ROWS),
    columns: Iterable[str] = tuple(COLUMNS),
    full: bool = False,
    executor: Executor | None = None,
) -> Iterator[Cell]:
    """The cells, row by row. Raises ValueError for a row or a column that does not exist."""
    places = [(row, column) for row in rows for column in columns]
    for row, column in places:
        if row not in ALL or column not in COLUMNS:
            raise ValueError(f"No cell {row}/{column}: rows are {', '.join(ALL)}, columns {', '.join(COLUMNS)}.")
    if executor is None:
        yield from (cell(row, column, full) for row, column in places)
        return
    futures = [executor.submit(cell, row, column, full) for row, column in places]
    try:
        yield from (future.result() for future in futures)
    finally:
        for future in futures:
            future.cancel()


def searched(
    rows: Iterable[str],
    columns: Iterable[str],
    full: bool = False,
    workers: int = 2,
    tick: Callable[[Cell], None] | None = None,
) -> list[Cell]:
    """The cells, searched by so many processes; the answer is the same for any number. tick: told of each in turn."""
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_quiet) as pool:
        found = []
        for each in cells(rows, columns, full, pool):
            found.append(each)
            if tick is not None:
                tick(each)
    return found


def _quiet() -> None:
    """Some of the locks log each node that does not answer; here none is to."""
    logging.disable(logging.CRITICAL)


def cell(row: str, column: str, full: bool = False) -> Cell:
    """Searches one cell."""
    about = COLUMNS[column]
    if row in about.but:
        return Cell(row, column, "–", why="it cannot happen to this lock")
    try:
        found = _search(row, about, full)
    except ClientDied as error:
        return Cell(row, column, "?", why=str(error))
    done = _cell(row, column, found)
    if done.verdict == "S" and not tested(row, about):
        return replace(done, verdict="?", why="without a mishap, too, the run does not put the claims to the test")
    return done


def tested(row: str, about: Column) -> bool:
    """Whether the run without a mishap shows the data claims to hold, instead of never coming to them."""
    plain = play("increment", row=row, **_params(row, about))
    return all(CHECKS[name](plain).holds is True for name in about.claims if name in DATA)


def _params(row: str, about: Column) -> dict[str, Any]:
    return about.params | ({"bare": 1} if about.bare and row in QUORUM else {})


def _search(row: str, about: Column, full: bool) -> Found:
    bounds = limits(row, about, full)
    return search("increment", judge_of(about.claims), **bounds, row=row, **_params(row, about))


def limits(row: str, column: Column, full: bool) -> dict[str, Any]:
    """The bounds of a cell's search."""
    kinds = tuple(dict.fromkeys((*column.kinds, *column.extra, *(MORE if full and column.extra else ()))))
    most = (3 if full else 2) - (row in SEVERAL and column.extra != ())
    return {"faults": kinds, "must": column.kinds, "most": most, "menu": 3 if full else 1, "runs": 200_000}


def judge_of(claims: tuple[str, ...]) -> Callable[[Timeline], Verdict]:
    """False where one of the claims breaks, None where data stayed safe but two believed or the store refused."""

    def judge(timeline: Timeline) -> Verdict:
        verdicts = [CHECKS[name](timeline) for name in claims]
        broken = next((verdict for verdict in verdicts if verdict.holds is False), None)
        if broken is not None:
            return broken
        return Verdict(" ".join(claims), None if claims[-1] in DATA and uneasy(timeline) else True, "")

    return judge


def uneasy(timeline: Timeline) -> bool:
    """Whether two clients believed at once, or a store had to refuse one of them."""
    late = any(refused(timeline, op) for name in ("register", "write") for op in timeline.ops(name))
    return late or CHECKS["one_believer"](timeline).holds is False


def _cell(row: str, column: str, found: Found) -> Cell:
    if found.outcome is Outcome.BROKEN and found.verdict is not None:
        return Cell(row, column, "U", found.schedule, found.token, str(found.bounds), found.runs, found.verdict.why)
    if found.outcome is Outcome.UNKNOWN:
        return Cell(row, column, "?", bounds=str(found.bounds), runs=found.runs, why=found.why)
    again = f"{found.title} #0 {found.doubt}" if found.doubt else ""
    return Cell(row, column, "D" if found.doubt else "S", found.doubt, again, str(found.bounds), found.runs)


__all__ = ["ALL", "COLUMNS", "OTHERS", "ROWS", "Cell", "Column", "cell", "cells", "searched"]
