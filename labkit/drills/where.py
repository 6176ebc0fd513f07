"""Which line of the answer an error means, as the learner can find it.

An answer's files are made known with their text: those of a notebook have names that say nothing, and do not exist
on disk. Every message then gives the line with what stands there.
"""

from __future__ import annotations

import linecache
from collections.abc import Mapping
from types import TracebackType
from typing import NamedTuple


class Source(NamedTuple):
    """One file or cell of an answer. label: what the learner calls it, such as "In [3]" or "q1.py"."""

    label: str
    text: str


_known: dict[str, Source] = {}


def know(sources: Mapping[str, Source]) -> None:
    """Makes files of the answer known: by the name that their code carries."""
    for name, source in sources.items():
        _known[name] = source
        linecache.cache[name] = (len(source.text), None, source.text.splitlines(keepends=True), name)


def line_of_answer(error: BaseException) -> str:
    """`q1.py line 12, in keep_alive: «lock.extend(lease)»`: the innermost step that belongs to the answer."""
    step: TracebackType | None = error.__traceback__
    found = "a line outside your answer"
    while step is not None:
        name = step.tb_frame.f_code.co_filename
        if name in _known:
            text = linecache.getline(name, step.tb_lineno).strip()[:80]
            where = f"{_known[name].label} line {step.tb_lineno}, in {step.tb_frame.f_code.co_name}"
            found = where + (f": «{text}»" if text else "")
        step = step.tb_next
    return found


def relabelled(message: str) -> str:
    """A message of the world, which names files by the end of their path, with the learner's names in it."""
    for name, source in _known.items():
        short = name if name.startswith("<") else "/".join(name.replace("\\", "/").split("/")[-2:])
        message = message.replace(short, source.label)
    return message
