"""A run as a value: what happened, in order, and what follows from it.

A `Timeline` is written once, by the simulated world or by a recording of a real run, and only read afterwards:
by checks, by pictures, by the grader. It holds events; operations, belief and truth are *derived* from them, so that
nobody can tell two stories about one run. It neither draws nor judges.

Times are seconds since the start of the run. A span covers its start and not its end: a lease that ends at t = 10
does not protect what happens at t = 10. (Redis still answers for a key in the very millisecond of its expiry; the
strict reading is the one a holder may rely on.)
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from .derived import Belief, Hold, Op, make_belief, make_holds, make_op

ENDS = ("ok", "fail", "unknown")  # how an operation ended for the one who called
__all__ = ["KINDS", "Belief", "Event", "Hold", "Op", "Timeline"]

KINDS = frozenset(
    ("invoke", *ENDS)
    + ("send", "deliver", "apply", "drop", "cut", "heal")  # packets and links
    + ("pause", "wake", "crash", "restart", "promote")  # nodes
    + ("expire", "evict", "clock")  # a key vanishes by itself; a clock changes
    + ("lost", "note")  # a holder is told that its lease is gone; anything worth a sentence
)


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened.

    seq: its number in the run.  t: seconds since the start.  node: the client, thread of a client ("A/T2") or server.
    kind: one of KINDS.  name: a command, an operation, a key, a sentence.  cause: the `seq` it follows from, or None.
    data: what belongs to the kind. `keys` maps each server key that changed to None (gone) or to a mapping with
    `value`, `until` (when it will expire, None: never), `owner` (node that wrote it) and `grant` (the `seq` of the
    operation that wrote it). `invoke` carries `key` and, for all but an acquisition, `grant`, and `inner` where
    an owner leaves that stays in; `ok` of a grant carries `token`, `deadline` and its `grant`.
    """

    seq: int
    t: float
    node: str
    kind: str
    name: str
    data: Mapping[str, Any] = field(default_factory=dict)
    cause: int | None = None


@dataclass(frozen=True, repr=False)
class Timeline:
    """A finished run. `story`, `seed` and `tape` are what it takes to have the very same run again (`token`)."""

    events: tuple[Event, ...]
    seed: int = 0
    tape: str = ""
    story: str = ""

    @property
    def token(self) -> str:
        """The replay string: `labkit.replay(timeline.token)` gives an equal timeline, in any process."""
        return " ".join(part for part in (self.story, f"#{self.seed}", self.tape) if part)

    @property
    def end(self) -> float:
        return self.events[-1].t if self.events else 0.0

    def __repr__(self) -> str:
        return f"<Timeline {self.token}: {len(self)} events in {self.end:.3f} s>"

    def __len__(self) -> int:
        return len(self.events)

    def __iter__(self) -> Iterator[Event]:
        return iter(self.events)

    def find(self, kind: str | None = None, node: str | None = None, name: str | None = None) -> tuple[Event, ...]:
        """The events with this kind, node and name; None matches all."""
        return tuple(
            e for e in self.events if kind in (None, e.kind) and node in (None, e.node) and name in (None, e.name)
        )

    # -- derived: operations, belief, truth --------------------------------------------------------------------

    @cached_property
    def _ops(self) -> dict[int, Op]:
        ends = {e.cause: e for e in self.events if e.kind in ENDS}
        return {e.seq: make_op(e, ends.get(e.seq)) for e in self.events if e.kind == "invoke"}

    def ops(self, name: str | None = None) -> tuple[Op, ...]:
        """The operations in the order of their calls; only those called `name`, if given."""
        return tuple(op for op in self._ops.values() if name in (None, op.name))

    def origin(self, seq: int | None) -> Op | None:
        """The operation that an event goes back to, along its causes; None for what no operation caused."""
        while seq is not None:
            if seq in self._ops:
                return self._ops[seq]
            seq = self.events[seq].cause
        return None

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The lock keys that somebody tried to acquire, in order."""
        return tuple(dict.fromkeys(op.args["key"] for op in self.ops("acquire")))

    def belief(self, key: str | None = None) -> tuple[Belief, ...]:
        """Who thought that they held `key` (None: any lock), and when, in order of the grants."""
        return tuple(b for b in self._beliefs if key in (None, b.key))

    @cached_property
    def _beliefs(self) -> tuple[Belief, ...]:
        granted = [op for op in self.ops("acquire") if op.outcome == "ok" and op.grant == op.seq]
        return tuple(make_belief(self, op) for op in granted)

    def truth(self, key: str | None = None) -> tuple[Hold, ...]:
        """What the servers said of `key` (None: all keys), in order of the start."""
        return tuple(h for h in self._holds if key in (None, h.key))

    @cached_property
    def _holds(self) -> tuple[Hold, ...]:
        return tuple(make_holds(self))

    # -- as words and as JSON ----------------------------------------------------------------------------------

    def tell(self, detail: bool = False) -> str:
        """The run in plain sentences, one a line; with `detail` also packets and renewals."""
        from labkit.telling import tell

        return tell(self, detail)

    def to_json(self) -> str:
        """A JSON text that `from_json` turns back into an equal timeline."""
        head = {"story": self.story, "seed": self.seed, "tape": self.tape}
        rows = ",\n".join(json.dumps(asdict(e), ensure_ascii=False, default=str) for e in self.events)
        return f'{{"timeline": {json.dumps(head, ensure_ascii=False)}, "events": [\n{rows}\n]}}\n'

    @classmethod
    def from_json(cls, text: str) -> Timeline:
        """Reads what `to_json` wrote. Raises ValueError, naming the first thing that is wrong."""
        try:
            loaded = json.loads(text)
            events = tuple(Event(**row) for row in loaded["events"])
            timeline = cls(events, **loaded["timeline"])
        except (KeyError, TypeError) as error:
            raise ValueError(f"This JSON is no timeline: {error}.") from error
        for place, event in enumerate(events):
            earlier = event.cause is None or (isinstance(event.cause, int) and 0 <= event.cause < place)
            if event.seq != place or event.kind not in KINDS or not earlier:
                raise ValueError(
                    f"Event {place} of the timeline has seq {event.seq!r}, kind {event.kind!r}, cause {event.cause!r}."
                )
        return timeline
