"""One call of `acquire`, from its beginning until its node is gone, written down as plain data."""

from __future__ import annotations

import traceback
from math import inf
from typing import TYPE_CHECKING, Any

from kazoo.exceptions import SessionExpiredError

from ...locks import Lease, LeaseLost
from ...recording import ADDRESS
from ...sim import WorldClosed
from ..trial import Function
from ..where import line_of_answer

if TYPE_CHECKING:
    from .case import Caller
    from .stage import Stage


class Call:
    """A call under way; `data` is what a judge gets of it."""

    def __init__(self, stage: Stage, caller: Caller) -> None:
        self.stage, self.caller = stage, caller
        self.data: dict[str, Any] = {
            "client": caller.client,
            "who": caller.client + (f" ({caller.lane})" if caller.lane else ""),
            "timeout": caller.timeout,
            "t": stage.now,
            "first": len(stage.asked),
            "ret": None,
            "kind": "none",
            "granted": False,
            "raised": "",
            "queue": [],
            "leaves": None,
            "left": None,
            "behind": None,
        }

    @property
    def nodes(self) -> list[str]:
        """The nodes that its client has made since the call."""
        mine = self.stage.asked[self.data["first"] :]
        return [a["made"] for a in mine if a["client"] == self.caller.client and a.get("made")]

    def made(self, watched: Any) -> Any:
        """Makes the call. Returns what was granted, for the one who releases it."""
        try:
            return watched.acquire()
        except (WorldClosed, GeneratorExit):
            raise
        except MemoryError as error:
            self.stage.failed.append(error)
            traceback.clear_frames(error.__traceback__)
        except BaseException as error:
            text = ADDRESS.sub("", str(error))[:120]
            self.returned({"kind": "raised", "raised": type(error).__name__, "message": text})
            self.data |= {"where": line_of_answer(error), "lost": isinstance(error, LeaseLost)}
            self.data["expired"] = isinstance(error, SessionExpiredError)
        return None

    def returned(self, about: dict[str, Any]) -> None:
        self.data |= about | {"ret": self.stage.now, "queue": [list(row) for row in self.stage.children()]}

    def look_back(self) -> None:
        """Which of its nodes are there a moment after its end."""
        self.data["behind"] = [path for path in self.nodes if path in self.stage.data.tree.nodes]

    def own_node(self) -> str:
        """The node by which it holds: what the lease says, if that can be; else its client's first."""
        token = self.data.get("token")
        nodes = [path for path in self.nodes if path in self.stage.data.tree.nodes]
        return token if token in nodes else next(iter(nodes), "")

    def leaves(self) -> None:
        self.data["leaves"] = self.stage.now

    def left(self) -> None:
        self.data["left"] = self.stage.now


class Asked:
    """The answer as a lock that can be watched: what it returned is written down."""

    def __init__(self, function: Function, zk: Any, call: Call) -> None:
        self.function, self.zk, self.call = function, zk, call

    def acquire(self) -> Any:
        stage, call = self.call.stage, self.call
        value = self.function(self.zk, stage.case.path, call.caller.timeout)
        call.returned(described(value))
        return Lease(stage.case.path, call.own_node(), None, inf) if call.data["granted"] else None

    def release(self, lease: Lease) -> None:
        if lease.token:
            self.call.stage.delete(self.call.caller.client, lease.token)


def described(value: Any) -> dict[str, Any]:
    """What `acquire` returned. granted: whether an `if` would take it for a grant."""
    if not isinstance(value, Lease):
        kind = "none" if value is None else "other"
        return {"kind": kind, "granted": bool(value), "shown": shown(value)}
    fence = value.fence if isinstance(value.fence, int) and not isinstance(value.fence, bool) else None
    text = {f: str(v) if isinstance(v := getattr(value, f), str) else None for f in ("name", "token")}
    seen = {f"{f}_shown": shown(getattr(value, f)) for f in ("name", "token", "fence", "deadline")}
    about = {"kind": "lease", "granted": True, "shown": shown(value), "fence": fence}
    return about | text | seen | {"deadline_none": value.deadline is None}


def shown(value: Any) -> str:
    try:
        return ADDRESS.sub("", repr(value))[:80]
    except BaseException as raised:
        return f"something whose repr raises {type(raised).__name__}"
