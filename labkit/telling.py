"""A timeline in plain sentences: the text that stands beside each picture and in its place.

The words of a run belong to the run, so this module is part of the timeline's room. It invents nothing: after a
first line that sums the run up, each sentence is one event with its time, its node and its numbers. Packets and
renewals are left out unless asked for, and what repeats is said once. It does not judge.
It is long because it is a list: one short function for each kind of event.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from labkit.overlap import guards, lease_over, overlaps
from labkit.wording import duration, listed, moment

if TYPE_CHECKING:
    from labkit.timeline import Event, Op, Timeline


def tell(timeline: Timeline, detail: bool = False, renewals: bool = False) -> str:
    """The run as text: one sentence that sums it up, then one sentence a line, in the order of the events.

    detail: also packets, renewals and each failed try.  renewals: these alone besides. The text is the same for equal
    timelines.
    """
    told = {e.seq for e in timeline if renewals and e.name == "extend" and e.kind in ("ok", "invoke")}
    said = [(e.t, text) for e in timeline if (text := sentence(timeline, e, detail or e.seq in told))]
    rows = said if detail else list(_once(said))
    wide = max((len(f"{t:.3f}") for t, _ in rows), default=0)
    return "\n".join([summary(timeline), *(f"t={t:{wide}.3f} s  {text}" for t, text in rows)])


def summary(timeline: Timeline) -> str:
    """The whole run in one sentence: who believed at the same time that they held a lock, and for how long."""
    if not timeline.events:
        return "Nothing happened in this run."
    found = sorted(overlaps(timeline), key=lambda o: (o.start - o.end, o.start))
    if not found:
        return _calm(timeline)
    worst, more = found[0], len(found) - 1
    who = f"{listed(worst.nodes)} {'both' if len(worst.nodes) == 2 else 'all'} believed they held"
    who = who if len(worst.nodes) > 1 else f"{worst.nodes[0]} believed in two grants at once of"
    lasted = f"{duration(worst.end - worst.start)}, from t={moment(worst.start)} s to t={moment(worst.end)} s"
    return f"{who} {worst.key} for {lasted}{f', and {more} more time' if more else ''}{'s' * (more > 1)}."


def _calm(timeline: Timeline) -> str:
    keys = timeline.keys
    if not keys:
        return f"Nobody asked for a lock in this run of {duration(timeline.end)}."
    if (ghost := _ghost(timeline)) is not None:
        return ghost
    if not timeline.belief():
        return _for_ever(timeline) or f"Nobody got hold of {listed(keys, 'or')}."
    return f"At no time did two clients believe they held {keys[0] if len(keys) == 1 else 'the same lock'}."


def _ghost(timeline: Timeline) -> str | None:
    """A client that met what an earlier copy of its own request had done, and took it for somebody else's doing."""
    for op in timeline.ops():
        told = op.ret if op.outcome == "fail" else None
        for hold in timeline.truth(op.args.get("key")) if told is not None else ():
            if op.name == "acquire" and hold.grant == op.seq and hold.start < (told or 0.0) < hold.end:
                return _taken_by_itself(op, hold.key)
            by = timeline.origin(hold.evidence[-1]) if hold.why == "deleted" else None
            if op.name == "release" and hold.grant == op.args.get("grant") and by == op:
                return f"{op.node} was told that it had lost {hold.key}; its own first request had released it."
    return None


def _taken_by_itself(op: Op, key: str) -> str:
    """Of an error a client learns only that something went wrong; of a plain refusal, that somebody has the lock."""
    if op.value.get("reason", "")[:1].isupper():  # the class of an exception
        return f"{op.node} was told of an error; {key} is taken all the same, by {op.node}'s own request."
    return f"{op.node} was told that {key} is taken; what had taken it was {op.node}'s own request."


def _for_ever(timeline: Timeline) -> str:
    left = [h for h in timeline.truth() if h.key in timeline.keys and h.why == "open" and h.until is None]
    return f"Nobody was told that they hold {left[0].key}, and it is {left[0].owner}'s for ever." if left else ""


# -- sentences ------------------------------------------------------------------------------------------------------


def sentence(timeline: Timeline, event: Event, detail: bool = False) -> str:
    """What one event says, or nothing if it is not worth a line at this level of detail."""
    if event.kind in ("send", "deliver", "apply"):
        return _packet(event) if detail else _taken_away(timeline, event)
    if event.kind == "invoke":
        return _call(event, detail)
    if event.kind in ("ok", "fail", "unknown"):
        op = timeline.origin(event.cause)
        return _end(timeline, event, op, detail) if op else ""
    aside = event.kind in ("expire", "evict") and not guards(timeline, event.name)
    return "" if aside and not detail else _plain(timeline, event)


def _packet(event: Event) -> str:
    if event.kind == "send":
        goal = f" to {event.data['to']}" if event.data.get("to") else ""
        return f"{event.node} sends {brief(event.name)}{goal}."
    if event.kind == "deliver":
        return f"{brief(event.name)} reaches {event.node}."
    changed = [f"{key} is gone" if state is None else _now(key, state) for key, state in _keys(event).items()]
    return f"{event.node} executes {brief(event.name)}: {listed(tuple(changed)) or 'nothing changes'}."


def _taken_away(timeline: Timeline, event: Event) -> str:
    """A command that deletes a lock's key while its owner still counts on it is news, whoever sent it."""
    keys = [key for key, state in _keys(event).items() if state is None and guards(timeline, key)]
    ended = [h for key in keys for h in timeline.truth(key) if h.why == "deleted" and h.evidence[-1] == event.seq]
    for hold in ended:
        if any(b.grant == hold.grant and b.start <= event.t < b.end for b in timeline.belief(hold.key)):
            op = timeline.origin(event.seq)
            sender = f"a command of {op.node}" if op else "a command"
            return f"{event.node} deletes {hold.key} on {sender}; {hold.owner} still believes it holds it."
    return ""


def _now(key: str, state: Mapping[str, Any]) -> str:
    ends = "" if state.get("until") is None else f" until t={moment(state['until'])} s"
    return f"{key} is {brief(str(state['value']))}{ends}"


def _call(event: Event, detail: bool) -> str:
    """The call is told where it matters even if no answer comes; failed tries and renewals speak by their ends."""
    lock = event.data.get("key", "the lock")
    if event.name == "release":
        return f"{event.node} releases {lock}."
    if not detail or event.name not in ("acquire", "extend"):
        return "" if not detail else f"{event.node} calls {event.name}({_args(event.data)})."
    ttl = f", TTL {duration(event.data['ttl'])}" if event.data.get("ttl") else ""
    return f"{event.node} {'asks for' if event.name == 'acquire' else 'asks for more of'} {lock}{ttl}."


def _end(timeline: Timeline, event: Event, op: Op, detail: bool) -> str:
    tellers = {"acquire": _acquired, "extend": _extended, "release": _released, "write": _written, "read": _read}
    if event.kind == "unknown":
        why = f" ({event.data['reason']})" if event.data.get("reason") else ""
        return f"{op.node} got no answer to its {op.name} of {_what(op)}{why}: it may have happened all the same."
    if event.kind == "ok" and op.name in ("extend", "release") and not detail:
        return ""
    teller = tellers.get(op.name)
    return (
        teller(timeline, event, op)
        if teller
        else f"{op.node}'s {op.name} of {_what(op)} {'succeeds' if event.kind == 'ok' else 'fails' + _because(event)}."
    )


def _acquired(timeline: Timeline, event: Event, op: Op) -> str:
    if event.kind == "fail":
        return f"{op.node} does not get {op.args['key']}{_because(event)}."
    fence = "" if event.data.get("fence") is None else f", fencing token {event.data['fence']}"
    deadline = event.data.get("deadline")
    ends = "" if deadline is None else f", by its own clock until t={moment(deadline)} s"
    return f"{op.node} gets {op.args['key']}{ends}{fence}."


def _extended(timeline: Timeline, event: Event, op: Op) -> str:
    if event.kind == "fail":
        return f"{op.node} cannot extend {op.args.get('key', 'its lease')}{_because(event)}."
    until = f" until t={moment(event.data['deadline'])} s" if "deadline" in event.data else ""
    return f"{op.node} extends {op.args.get('key', 'its lease')}{until}."


def _released(timeline: Timeline, event: Event, op: Op) -> str:
    if event.kind == "ok":
        return f"{op.node} has released {op.args['key']}."
    return f"{op.node}'s release of {op.args['key']} is refused{_because(event)}."


def _written(timeline: Timeline, event: Event, op: Op) -> str:
    value = op.args.get("value")
    late = _late(timeline, op)
    if event.kind == "fail":
        return f"{op.node}'s write of {value} to {_what(op)} is refused{_because(event)}{late}."
    return f"{op.node} writes {value} to {_what(op)}; it is accepted{late}."


def _late(timeline: Timeline, op: Op) -> str:
    over = lease_over(timeline, op)
    return f", although {op.node}'s lease of {over[0]} ended at t={moment(over[1])} s" if over else ""


def _read(timeline: Timeline, event: Event, op: Op) -> str:
    if event.kind == "fail":
        return f"{op.node} cannot read {_what(op)}{_because(event)}."
    return f"{op.node} reads {event.data.get('value')} from {_what(op)}."


def _plain(timeline: Timeline, event: Event) -> str:
    node = event.node
    match event.kind:
        case "pause":
            until = event.data.get("until")
            return f"{node} is paused{'' if until is None else f' for {duration(until - event.t)}'}."
        case "wake":
            return f"{node} wakes up{_still(timeline, event, node)}."
        case "crash":
            return f"{node} crashes{_still(timeline, event, node, ', holding')}."
        case "restart":
            gone = tuple(key for key, state in _keys(event).items() if state is None)
            verb = "restarts" if event.cause is None else "is up again"
            return f"{node} {verb}{f', without {listed(gone)}' if gone else ''}."
        case "promote":
            behind = listed(tuple(event.data.get("isolated") or ()))
            return f"{node} becomes the primary{f', without {behind}' if behind else ''}."
        case _:
            return _other(timeline, event)


def _other(timeline: Timeline, event: Event) -> str:
    node = event.node
    match event.kind:
        case "expire" | "evict":
            verb = "lets" if event.kind == "expire" else "evicts"
            tail = " expire" if event.kind == "expire" else ""
            return f"{node[:1].upper()}{node[1:]} {verb} {event.name}{tail}{_believers(timeline, event)}."
        case "clock":
            return f"The clock of {node} {_change(event.data)}."
        case "cut" | "heal":
            state = "cut" if event.kind == "cut" else "whole again"
            return f"The link between {node} and {event.name or 'the others'} is {state}."
        case "drop":
            what = "The reply to " if event.data.get("direction") == "reply" else ""
            return f"{what}{brief(event.name) or 'A packet'}{_route(timeline, event)} is lost."
        case "lost":
            return f"{node} is told that {event.name or event.data.get('key', 'its lock')} is lost{_because(event)}."
        case _:
            return event.name if event.name.endswith((".", "!", "?")) else f"{event.name}."


def _still(timeline: Timeline, event: Event, node: str, words: str = ", still believing that it holds") -> str:
    held = [b for b in timeline.belief() if b.node.split("/")[0] == node and b.start <= event.t <= b.end]
    keys = tuple(dict.fromkeys(b.key for b in held))
    return f"{words} {listed(keys)}" if keys else ""


def _believers(timeline: Timeline, event: Event) -> str:
    nodes = tuple(b.node for b in timeline.belief(event.name) if b.start <= event.t < b.end)
    if not nodes:
        return ""
    return (
        f"; {listed(nodes)} still believe{'s' * (len(nodes) == 1)} {'it holds' if len(nodes) == 1 else 'they hold'} it"
    )


def _change(data: Mapping[str, Any]) -> str:
    if data.get("rate") is not None:
        return f"runs {data['rate']:g} times as fast"
    step = float(data.get("step", 0.0))
    return f"jumps {'forward' if step >= 0 else 'back'} by {duration(abs(step))}"


def _route(timeline: Timeline, event: Event) -> str:
    sent = timeline.events[event.cause] if event.cause is not None else event
    to = sent.data.get("to") or event.data.get("to") or getattr(timeline.origin(event.cause), "node", "")
    return f" from {sent.node} to {to}" if to else f" from {sent.node}"


def _once(said: list[tuple[float, str]]) -> Iterator[tuple[float, str]]:
    """Says what repeats without anything else in between once, with how often and until when."""
    for text, group in itertools.groupby(said, key=lambda row: row[1]):
        times = [t for t, _ in group]
        often = "" if len(times) == 1 else f" ({len(times)} times, until t={moment(times[-1])} s)"
        yield times[0], f"{text[:-1]}{often}{text[-1]}" if often else text


def _keys(event: Event) -> Mapping[str, Any]:
    keys: Mapping[str, Any] = event.data.get("keys", {})
    return keys


def _what(op: Op) -> str:
    return str(op.args.get("key") or op.args.get("resource") or "something")


def _args(data: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in data.items())


def _because(event: Event) -> str:
    return f": {event.data['reason']}".rstrip(".") if event.data.get("reason") else ""


def brief(command: str) -> str:
    """A command in which long random values are cut: they are there to be different, not to be read."""
    return re.sub(r"\b([0-9a-f]{6})[0-9a-f]{10,}", r"\1…", command)
