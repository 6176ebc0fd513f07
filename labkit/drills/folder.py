"""All answers of a folder, for whoever leads a workshop: one verdict a file, none of it in anybody's progress.

A file is an answer if its name names a question: q1.ipynb, q1-anna.py, anna_q1.py. Hidden files and folders and the
backups of `labkit reset` are left out. Files are checked one after the other: each takes what processors there are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from . import check_file
from .child import Limits
from .drill import NAMES
from .report import Report

NAME = re.compile(r"(?<![a-z0-9])(q[1-9][0-9]?)(?![a-z0-9])", re.IGNORECASE)
BACKUP = re.compile(r"\.backup-[0-9]+$")


def answers(folder: Path) -> list[tuple[Path, str]]:
    """The answers in `folder` and below, each with its question, by name. Raises ValueError for what is no folder."""
    if not folder.is_dir():
        raise ValueError(f"{folder} is no folder.")
    files = sorted(p for p in folder.rglob("*") if p.suffix in (".py", ".ipynb") and p.is_file())
    seen = [p for p in files if not any(part.startswith(".") for part in p.relative_to(folder).parts)]
    named = [(p, match[1].lower()) for p in seen if not BACKUP.search(p.stem) and (match := NAME.search(p.stem))]
    return [(path, question) for path, question in named if question in NAMES]


def check_all(folder: Path, seconds: float = Limits.seconds) -> Iterator[tuple[str, Report]]:
    """Each answer's place in the folder with its report, as they come."""
    for path, question in answers(folder):
        yield path.relative_to(folder).as_posix(), check_file(question, path, seconds=seconds, record=False)
