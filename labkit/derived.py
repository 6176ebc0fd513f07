"""What follows from the events of a run: operations, belief, truth. Part of the timeline's room.

An operation pairs a call with its end. Belief is what a client may think: from the arrival of a grant until it
releases, is told of the loss, or dies. Truth is what a server says of a key, from one change to the next.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from .timeline import Event, Timeline

Outcome = Literal["ok", "fail", "unknown"]


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

    @property
    def grant(self) -> int | None:
        """The acquisition that this is about, by the number of its operation: of an acquisition itself, unless it is
        one more entry into a lock that its owner is in already."""
        if self.name == "acquire":
            grant: int = self.value.get("grant", self.seq)
            return grant
        return self.args.get("grant")


@dataclass(frozen=True, slots=True)
class Belief:
    """A client thinks that it holds a lock: from the grant's arrival until it releases, learns of the loss, or dies.

    grant: `seq` of the acquiring operation.  valid: the spans in which its lease had not run out by its own clock; of a
    lease that no clock ends, such as ZooKeeper's, those in which the service had not taken it back.  why: "released",
    "lost", "crashed", "left" (its code ended without a release), or "open" (to the end of the run).
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


def make_op(call: Event, end: Event | None) -> Op:
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


def make_belief(timeline: Timeline, op: Op) -> Belief:
    """From the grant to the first thing that ends it; each extension or re-entry opens a new span of validity."""
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
        if event.kind == "ok" and event.name in ("extend", "acquire") and _grant_of(timeline, event) == op.seq:
            spans.append((event.t, float(event.data.get("deadline", float("inf")))))
            seen.append(event.seq)
    token = str(op.value.get("token", ""))
    if spans[-1][1] == float("inf"):
        spans = _held(timeline, op, start) or spans
    return Belief(op.node, op.args["key"], op.seq, start, end, why, token, _merge(spans, end), tuple(seen))


def _held(timeline: Timeline, op: Op, since: float) -> list[tuple[float, float]]:
    """From when to when, after `since`, the service had the lock as this grant's; nothing if that is not recorded."""
    holds = [(hold, timeline.origin(hold.grant)) for hold in timeline.truth(op.args["key"])]
    return [(max(h.start, since), h.end) for h, of in holds if of is not None and of.grant == op.seq and h.end > since]


def _ends_belief(timeline: Timeline, event: Event, grant: Op) -> str:
    if event.kind == "crash" and event.node == grant.node.split("/")[0]:
        return "crashed"
    if event.kind == "invoke" and event.name == "release" and event.data.get("grant") == grant.seq:
        return "" if event.data.get("inner") else "released"
    if event.kind == "lost" and event.data.get("grant") == grant.seq:
        return "lost"
    if event.kind == "note" and event.data.get("left") == grant.seq:
        return "left"
    told = event.kind == "fail" and event.data.get("lost") and _grant_of(timeline, event) == grant.seq
    return "lost" if told else ""


def _grant_of(timeline: Timeline, end: Event) -> int | None:
    op = timeline.origin(end.cause)
    return op.grant if op is not None else None


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
ENDINGS["crash"] = "restart"  # its server has died, and its data with it


def make_holds(timeline: Timeline) -> list[Hold]:
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
