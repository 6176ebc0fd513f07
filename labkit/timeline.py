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
from typing import Any, Literal

ENDS = ("ok", "fail", "unknown")  # how an operation ended for the one who called
KINDS = frozenset(
    ("invoke", *ENDS)
    + ("send", "deliver", "apply", "drop", "cut", "heal")  # packets and links
    + ("pause", "wake", "crash", "restart", "promote")  # nodes
    + ("expire", "evict", "clock")  # a key vanishes by itself; a clock changes
    + ("lost", "note")  # a holder is told that its lease is gone; anything worth a sentence
)
Outcome = Literal["ok", "fail", "unknown"]


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened.

    seq: its number in the run.  t: seconds since the start.  node: the client, thread of a client ("A/T2") or server.
    kind: one of KINDS.  name: a command, an operation, a key, a sentence.  cause: the `seq` it follows from, or None.
    data: what belongs to the kind. `keys` maps each server key that changed to None (gone) or to a mapping with
    `value`, `until` (when it will expire, None: never), `owner` (node that wrote it) and `grant` (the `seq` of the
    operation that wrote it). `invoke` carries `key` and, for all but the first grant, `grant`; `ok` of a grant
    carries `token` and `deadline`.
    """

    seq: int
    t: float
    node: str
    kind: str
    name: str
    data: Mapping[str, Any] = field(default_factory=dict)
    cause: int | None = None


@dataclass(frozen=True, slots=True)
class Op:
    """An operation, from call to return. `ret` is None and `outcome` "unknown" while no answer came (a crash, a lost
    reply, the end of the run): it may have happened all the same."""

    seq: int
    node: str
    name: str
    args: Mapping[str, Any]
    call: float
    ret: float | None
    outcome: Outcome
    value: Mapping[str, Any]
    end: int | None


@dataclass(frozen=True, slots=True)
class Belief:
    """A client thinks that it holds a lock: from the grant's arrival until it releases, learns of the loss, or dies.

    grant: `seq` of the acquiring operation.  valid: the spans in which its lease had not run out by its own clock.
    why: "released", "lost", "crashed", or "open" (to the end of the run).
    """

    node: str
    key: str
    grant: int
    start: float
    end: float
    why: str
    token: str
    valid: tuple[tuple[float, float], ...]
    evidence: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Hold:
    """A server says that a key has a value. `owner` wrote it in operation `grant`; `until` is when it will expire by
    what is known at `start` (None: never). why: how it ended: "deleted", "expired", "evicted", "restart", "open"."""

    server: str
    key: str
    value: str
    owner: str
    grant: int | None
    start: float
    end: float
    until: float | None
    why: str
    evidence: tuple[int, ...]


@dataclass(frozen=True)
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
        return {e.seq: _op(e, ends.get(e.seq)) for e in self.events if e.kind == "invoke"}

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
        granted = [op for op in self.ops("acquire") if op.outcome == "ok"]
        return tuple(_belief(self, op) for op in granted)

    def truth(self, key: str | None = None) -> tuple[Hold, ...]:
        """What the servers said of `key` (None: all keys), in order of the start."""
        return tuple(h for h in self._holds if key in (None, h.key))

    @cached_property
    def _holds(self) -> tuple[Hold, ...]:
        return tuple(_holds(self))

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
            if event.seq != place or event.kind not in KINDS:
                raise ValueError(f"Event {place} of the timeline has seq {event.seq!r} and kind {event.kind!r}.")
        return timeline


def _op(call: Event, end: Event | None) -> Op:
    outcome: Outcome = end.kind if end else "unknown"  # type: ignore[assignment]
    value = end.data if end else {}
    return Op(
        call.seq,
        call.node,
        call.name,
        call.data,
        call.t,
        end.t if end else None,
        outcome,
        value,
        end.seq if end else None,
    )


def _belief(timeline: Timeline, op: Op) -> Belief:
    """From the grant to the first thing that ends it; each later `ok` of an extend opens a new span of validity."""
    assert op.ret is not None and op.end is not None
    start, seen = op.ret, [op.end]
    spans = [(start, float(op.value.get("deadline", float("inf"))))]
    end, why = timeline.end, "open"
    for event in timeline.events[op.end + 1 :]:
        ending = _ends_belief(timeline, event, op)
        if ending:
            end, why = event.t, ending
            seen.append(event.seq)
            break
        if event.kind == "ok" and event.name == "extend" and _grant_of(timeline, event) == op.seq:
            spans.append((event.t, float(event.data["deadline"])))
            seen.append(event.seq)
    token = str(op.value.get("token", ""))
    return Belief(op.node, op.args["key"], op.seq, start, end, why, token, _merge(spans, end), tuple(seen))


def _ends_belief(timeline: Timeline, event: Event, grant: Op) -> str:
    if event.kind == "crash" and event.node == grant.node.split("/")[0]:
        return "crashed"
    if event.kind == "invoke" and event.name == "release" and event.data.get("grant") == grant.seq:
        return "released"
    if event.kind == "lost" and event.data.get("grant") == grant.seq:
        return "lost"
    told = event.kind == "fail" and event.data.get("lost") and _grant_of(timeline, event) == grant.seq
    return "lost" if told else ""


def _grant_of(timeline: Timeline, end: Event) -> int | None:
    return timeline.events[end.cause].data.get("grant") if end.cause is not None else None


def _merge(spans: list[tuple[float, float]], end: float) -> tuple[tuple[float, float], ...]:
    merged: list[tuple[float, float]] = []
    for first, last in spans:
        last = min(last, end)
        if merged and first <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        elif first < last:
            merged.append((first, last))
    return tuple(merged)


ENDINGS = {"apply": "deleted", "expire": "expired", "evict": "evicted", "restart": "restart", "clock": "expired"}


def _holds(timeline: Timeline) -> list[Hold]:
    """Spans of equal value for each key of each server, cut wherever a server reported a change."""
    current: dict[tuple[str, str], tuple[Event, Mapping[str, Any]]] = {}
    holds: list[Hold] = []

    def close(place: tuple[str, str], at: float, why: str, seqs: tuple[int, ...]) -> None:
        event, state = current.pop(place)
        value, owner, grant, until = str(state["value"]), state["owner"], state["grant"], state["until"]
        holds.append(Hold(*place, value, owner, grant, event.t, at, until, why, (event.seq, *seqs)))

    for event in timeline.events:
        for key, state in event.data.get("keys", {}).items():
            place = (event.node, key)
            if place in current:
                same = state is not None and state["grant"] == current[place][1]["grant"]
                why = "changed" if state is not None and not same else ENDINGS.get(event.kind, "deleted")
                close(place, event.t, "renewed" if same else why, (event.seq,))
            if state is not None:
                current[place] = (event, state)
    for place in list(current):
        close(place, timeline.end, "open", ())
    return sorted(holds, key=lambda h: (h.start, h.evidence))
