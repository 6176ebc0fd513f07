"""Calls of an answer's plain functions, as plain data: what was given, what came back, what was raised."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ..recording import ADDRESS, sentence
from .trial import Function, Outcome, Remark, error
from .where import line_of_answer

SHOWN = 80  # characters of a value or of a message


def called(function: Function, *args: Any) -> dict[str, Any]:
    """Calls `function(*args)`; whatever it raises is written down, running out of memory excepted."""
    call: dict[str, Any] = {"args": list(args), "number": None, "shown": "", "raised": "", "message": ""}
    call["refused"] = False
    try:
        value = function(*args)
    except MemoryError:
        raise
    except BaseException as raised:
        call["raised"], call["refused"] = type(raised).__name__, isinstance(raised, ValueError)
        call["message"] = f"{sentence(raised)[:SHOWN]}, at {line_of_answer(raised)}"
    else:
        call.update(number=_number(value), shown=_shown(value))
    return call


def _number(value: Any) -> float | None:
    """The value if it is a number that can be counted with. A bool is none."""
    try:
        return (
            value + 0
            if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
            else None
        )
    except OverflowError:
        return None


def _shown(value: Any) -> str:
    try:
        return ADDRESS.sub("", repr(value))[:SHOWN]
    except BaseException as raised:
        return f"something whose repr raises {type(raised).__name__}"


def unexpected(call: Mapping[str, Any], name: str) -> Remark | None:
    """The remark on a call that should have returned a value, and raised."""
    if not call["raised"]:
        return None
    if call["refused"]:
        return Remark(Outcome.FAIL, f"{name} was refused ({call['message']}), though its arguments make sense.")
    return error(f"{name} raised {call['message']}.")
