"""Whether a function is still the stub of the exercise, or something that people put down for now. It is not called:
its code is looked at, so that a notebook in which nothing is written yet costs no process and no error."""

from __future__ import annotations

import dis
from typing import Any

BLANK = {"not_attempted", "NotImplementedError", "NotImplemented"}
JUMPS = {*dis.hasjrel, *dis.hasjabs}


def is_stub(function: Any) -> bool:
    """Whether nobody has written anything into a function yet: it calls `not_attempted`, or it is what people put down
    for now, such as `pass`, and does nothing else."""
    code = getattr(function, "__code__", None)
    if code is None or not set(code.co_names) <= BLANK or any(map(_works, dis.get_instructions(code))):
        return False
    words = str if code.co_names else ()  # raise NotImplementedError("later")
    rest = [c for c in code.co_consts if c not in (None, ..., function.__doc__) and not isinstance(c, words)]
    return not rest and code.co_nlocals == code.co_argcount


def _works(step: dis.Instruction) -> bool:
    """Whether a step does something: it reads an argument, as in `return n`, makes a value, or loops."""
    return step.opcode in JUMPS or step.opname.startswith(("LOAD_FAST", "LOAD_DEREF", "BUILD_"))
