"""What the answer returned, as plain data: whatever it is, it is looked at where it was made, and not handed over."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...locks import Lease
from ...recording import ADDRESS
from ..trial import Function

SHOWN = 80  # characters of a value


class Asked:
    """The answer as a lock that can be watched: what it returned is written down as plain data. give_back: how the lock
    is released where `function` is an acquire."""

    give_back: Callable[[], None] | None = None

    def __init__(self, function: Function, nodes: list[Any], lock: tuple[str, float], call: dict[str, Any]) -> None:
        self.function, self.nodes, self.call = function, nodes, call
        self.name, self.ttl = lock

    def acquire(self) -> Any:
        value = self.function(self.nodes, self.name, self.ttl)
        self.call |= described(value)
        return value if self.call["kind"] == "lease" and self.call["moment"] is not None else None

    def release(self, lease: Lease) -> None:
        if self.give_back is not None:
            self.give_back()
            return
        value = self.function(self.nodes, lease)
        number = value if isinstance(value, int) and not isinstance(value, bool) else None
        self.call |= {"number": number, "shown": _shown(value)}


def described(value: Any) -> dict[str, Any]:
    """What `acquire` returned. moment: the deadline on the client's clock, if it is a number.  truthy: whether an `if`
    would take it for a grant."""
    if not isinstance(value, Lease):
        kind = "none" if value is None else "other"
        return {"kind": kind, "shown": _shown(value), "truthy": value is not None and value is not False}
    deadline = value.deadline
    number = isinstance(deadline, (int, float)) and not isinstance(deadline, bool) and math.isfinite(deadline)
    token = value.token if isinstance(value.token, str) else None
    return {
        "kind": "lease",
        "shown": _shown(value),
        "truthy": True,
        "name": value.name if isinstance(value.name, str) else _shown(value.name),
        "token": token,
        "token_shown": _shown(value.token),
        "fence": _shown(value.fence),
        "moment": float(deadline) if number else None,
        "deadline_shown": _shown(deadline),
    }


def _shown(value: Any) -> str:
    try:
        return ADDRESS.sub("", repr(value))[:SHOWN]
    except BaseException as raised:
        return f"something whose repr raises {type(raised).__name__}"
