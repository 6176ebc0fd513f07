"""The rule: from six answers to a scheme, and to the cells of the matrix that one should look at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from ..explore.matrix import ROWS
from .questions import QUESTIONS, accept
from .schemes import SCHEMES, Scheme

Place = tuple[str, str]  # a row and a column of the matrix

WORK = ("F1", "F9")  # what even a lock that only saves work must bear: a dead holder, and a late release
DATA = ("F1", "F2", "F3", "F4", "F5", "F6", "F7", "F8", "F9")
OUTSIDE = ("F10",)


@dataclass(frozen=True)
class Choice:
    """scheme: its name, see SCHEMES.  reason: why, and what to know of those who wait, in whole sentences.  cells: of
    the safety matrix: of the scheme, in the columns that matter; or, if `spares` names a row, of the lock that one
    would have taken, and against it.  instead: what to do instead of a lock, empty where a lock is the answer."""

    scheme: str
    reason: str
    cells: tuple[Place, ...]
    instead: str
    spares: str = ""

    @property
    def heading(self) -> str:
        """What the cells are there for."""
        if not self.spares:
            return "What the safety matrix says of it:"
        why = "no lock" if SCHEMES[self.scheme].kind == "no lock" else "no lock is enough"
        return f"Why {why}: what the safety matrix says of {self.spares} ({ROWS[self.spares].says}):"

    @property
    def says(self) -> str:
        return SCHEMES[self.scheme].says

    def __str__(self) -> str:
        lead = "No lock" if SCHEMES[self.scheme].kind == "no lock" else "Instead"
        no_lock = f" {lead}: {self.instead}" if self.instead else ""
        return f"{self.scheme}: {self.says}. {self.reason}{no_lock}"


def choose(answers: Mapping[str, str]) -> Choice:
    """The scheme for these answers, one for each of the six QUESTIONS. Raises ValueError for any other."""
    given = accept(answers)
    scheme = SCHEMES[_named(given)]
    reason = " ".join(filter(None, (scheme.why, _of_the_newest(scheme, given), getattr(scheme, given["waiting"]))))
    if scheme.rows:
        return Choice(scheme.name, reason, tuple(product(scheme.rows, matters(given))), scheme.instead)
    spared = _spared(given)
    return Choice(scheme.name, reason, tuple(product((spared,), _telling(given))), scheme.instead, spared)


def _named(a: Mapping[str, str]) -> str:
    """Whatever one statement can do needs no lock. Then harm decides: for work any lock that frees itself will do, for
    data it is the place of the effect that must refuse."""
    if a["place"] == "statement":
        return "statement"
    if a["harm"] == "work":
        return _for_work(a)
    return {"database": _in_a_database, "store": _in_a_store}.get(a["place"], _outside)(a)


def _for_work(a: Mapping[str, str]) -> str:
    if a["service"] == "redis":
        return "watchdog" if a["length"] == "long" else "redis"
    return "line" if a["service"] == "consensus" else "claim"


def _in_a_database(a: Mapping[str, str]) -> str:
    if a["length"] == "long":
        return "claim"
    return "row-lock" if a["waiting"] == "queue" else "version"


def _in_a_store(a: Mapping[str, str]) -> str:
    if a["newest"] == "no":
        return "check-and-set"
    return "fenced-queue" if a["service"] == "consensus" else "fenced"


def _outside(a: Mapping[str, str]) -> str:
    return "key" if a["place"] == "key" else "gate"


def _of_the_newest(scheme: Scheme, a: Mapping[str, str]) -> str:
    """What is to be added where it is not settled by the scheme that the newest holder has the say."""
    if a["newest"] == "no" or a["harm"] == "work":
        return ""
    if scheme.name == "key":
        return "A key tells repetitions, not orders (E28), so let one sender keep the order."
    if scheme.name == "fenced" and a["service"] == "database":
        return "Mint the number in the database: UPDATE … SET token = token + 1, in the statement that grants."
    if scheme.name == "fenced":
        return "If Redis forgets its counter, newcomers are refused until it has caught up: safe, and a nuisance."
    return ""


def matters(answers: Mapping[str, str]) -> tuple[str, ...]:
    """The columns of the matrix that must hold no U for these answers."""
    given = accept(answers)
    if given["harm"] == "work":
        return WORK
    return DATA + (OUTSIDE if given["place"] in ("key", "nothing") else ())


def _spared(a: Mapping[str, str]) -> str:
    """The row of the lock that one would have taken."""
    if a["service"] == "consensus":
        return "R9"
    return "R4" if a["length"] == "long" else "R3"


def _telling(a: Mapping[str, str]) -> tuple[str, ...]:
    """Where to look at a spared lock: at what it would have done wrong."""
    return OUTSIDE if a["place"] == "key" else ("F2", "F3")


def combinations() -> Iterator[dict[str, str]]:
    """Every combination of answers."""
    names = [question.name for question in QUESTIONS]
    for answers in product(*(question.options for question in QUESTIONS)):
        yield dict(zip(names, answers, strict=True))


def turns(given: Mapping[str, str], name: str) -> bool:
    """Whether the question `name` can still turn the scheme or the reason, once those in `given` are answered."""
    seen: dict[tuple[str, ...], set[tuple[str, str]]] = {}
    for answers in combinations():
        if given.items() <= answers.items():
            rest = tuple(answer for question, answer in answers.items() if question != name)
            choice = choose(answers)
            seen.setdefault(rest, set()).add((choice.scheme, choice.reason))
    return any(len(choices) > 1 for choices in seen.values())


def decisive(answers: Mapping[str, str]) -> tuple[str, ...]:
    """The questions of which another answer, alone, would have led to another scheme."""
    given = accept(answers)
    chosen = choose(given).scheme
    return tuple(
        question.name
        for question in QUESTIONS
        if any(choose({**given, question.name: other}).scheme != chosen for other in question.options)
    )
