"""What a client does and what befalls it, picked out of the run for its lane: facts, no shapes."""

from __future__ import annotations

from labkit.timeline import Event, Op
from labkit.viz.lanes import Stage

ITS_OWN = ("lost", "note")  # these belong to one thread, everything else to the whole client


def mine(stage: Stage, node: str, kinds: tuple[str, ...]) -> list[Event]:
    """The events of these kinds that befell a node, or the client that it is a thread of."""
    client = node.split("/")[0]
    return [
        e
        for e in stage.timeline
        if e.kind in kinds and (e.node == node or (e.node == client and e.kind not in ITS_OWN))
    ]


def calls(stage: Stage, node: str) -> list[Op]:
    """The operations of a node that are drawn."""
    return [op for op in stage.timeline.ops() if op.node == node and op.seq not in stage.shown.hidden]


def last_moment(stage: Stage, op: Op) -> float:
    """Where an operation is drawn to: its answer, or its caller's death, or the end of the run."""
    return op.ret if op.ret is not None else next(iter(deaths(stage, op)), stage.timeline.end)


def deaths(stage: Stage, op: Op) -> list[float]:
    """When the caller died, if it did after its call."""
    return [e.t for e in mine(stage, op.node, ("crash",)) if e.t >= op.call]


def paused(stage: Stage, node: str) -> list[tuple[float, float]]:
    """From when to when a node stood still: until it woke up, or else until it was meant to."""
    wakes = [e.t for e in mine(stage, node, ("wake",))]
    starts = [(e.t, float(e.data.get("until") or stage.timeline.end)) for e in mine(stage, node, ("pause",))]
    return [(start, min([t for t in wakes if t >= start] or [until])) for start, until in starts]


def cut_off(stage: Stage, node: str) -> list[tuple[float, float, str]]:
    """Each cut of a link of this client: from when to when, and the node at the other end."""
    client = node.split("/")[0]
    cuts = ((e, {e.node, e.name} - {client}) for e in stage.timeline.find("cut") if client in (e.node, e.name))
    return [(e.t, _healed(stage, e), other.pop()) for e, other in cuts if other]


def _healed(stage: Stage, cut: Event) -> float:
    link = {cut.node, cut.name}
    later = (e.t for e in stage.timeline.events[cut.seq :] if e.kind == "heal" and {e.node, e.name} == link)
    return next(later, stage.timeline.end)
