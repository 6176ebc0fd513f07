"""The article's errata, each a run: what it says, the counterexample, the repair, and where the course teaches it.

    for erratum in ERRATA.values(): print(erratum.number, erratum.claim)

A file a part of the article; each holds a list `ERRATA`. `labkit errata` prints the table, `docs/errata.md` keeps it.
"""

from __future__ import annotations

import importlib
import pkgutil

from .erratum import GRADES, Erratum, Run, Shown

__all__ = ["ERRATA", "GRADES", "Erratum", "Run", "Shown", "find"]


def _found() -> dict[str, Erratum]:
    names = sorted(m.name for m in pkgutil.iter_modules(__path__))
    found = [e for name in names for e in getattr(importlib.import_module(f"{__name__}.{name}"), "ERRATA", ())]
    return {erratum.number: erratum for erratum in sorted(found, key=lambda e: int(e.number[1:]))}


ERRATA: dict[str, Erratum] = _found()


def find(number: str) -> Erratum:
    """An erratum by its number. Raises ValueError that names those there are."""
    wanted = number.strip().upper()
    if wanted not in ERRATA:
        raise ValueError(f"No erratum is called {number!r}; there are {', '.join(ERRATA)}.")
    return ERRATA[wanted]
