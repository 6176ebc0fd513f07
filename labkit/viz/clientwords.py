"""The texts in the lane of a client: its operations and what befalls it, in as few words as there is room for."""

from __future__ import annotations

from collections.abc import Iterator

from labkit.timeline import Event, Op
from labkit.viz.folding import Fold
from labkit.viz.happenings import calls, cut_off, last_moment, mine, paused
from labkit.viz.lanes import TEXT, Stage
from labkit.viz.palette import DANGER_TEXT, GREY, INK
from labkit.viz.words import Want, shorten, width
from labkit.wording import duration, listed

FAULT, NEWS, USUAL, ASIDE = range(4)  # who is placed first
LONG = 160.0  # points; a call this long has its result at its end


def wants(stage: Stage, node: str) -> Iterator[Want]:
    """All texts of a lane, with the place where each would like to stand."""
    for start, end in paused(stage, node):
        middle = (stage.x(start) + stage.x(end)) / 2
        yield Want(middle, (f"paused {duration(end - start)}", "paused"), INK, FAULT, center=True, bold=True)
    for event in mine(stage, node, ("crash", "restart", "clock", "lost", "note")):
        yield _fault(stage.x(event.t) - 2, event)
    for start, _, other in cut_off(stage, node):
        yield Want(stage.x(start) - 2, (f"cut off from {other}", "cut off"), DANGER_TEXT, FAULT, bold=True)
    for fold in stage.shown.folds:
        if fold.node == node:
            middle = (stage.x(fold.start) + stage.x(fold.end)) / 2
            yield Want(middle, _folded(fold), GREY, NEWS, center=True)
    for op in calls(stage, node):
        calm = op.outcome == "ok" or (op.name, op.outcome) == ("acquire", "fail")
        yield from _call(stage, op, GREY if calm else DANGER_TEXT, USUAL if calm else NEWS)


def _folded(fold: Fold) -> tuple[str, ...]:
    if fold.tries:
        return f"{fold.count} more tries, refused", f"{fold.count} more tries", f"×{fold.count}"
    return f"{fold.count} more, nothing changed", f"{fold.count} more", f"×{fold.count}"


def _call(stage: Stage, op: Op, color: str, rank: int) -> Iterator[Want]:
    """Where a call begins, its words; what a long one was given stands where it ends."""
    words, end = called(op), stage.x(last_moment(stage, op))
    given = f"fence {op.value['fence']}" if op.outcome == "ok" and op.value.get("fence") is not None else ""
    if given and end - stage.x(op.call) > LONG:
        yield Want(end - width(given, TEXT) - 3, (given,), color, rank)
        words = words[1:]
    yield Want(stage.x(op.call) - 2, words, color, rank)


def _fault(x: float, event: Event) -> Want:
    if event.kind == "note" and not (event.data.get("deadlock") or event.data.get("died")):
        return Want(x, befell(event), INK, ASIDE)
    return Want(x, befell(event), DANGER_TEXT if event.kind == "lost" else INK, FAULT, bold=True)


def befell(event: Event) -> tuple[str, ...]:
    """A fault or a note, from many words to few."""
    data = event.data
    if event.kind == "clock":
        rate, step = data.get("rate"), float(data.get("step", 0.0))
        sign = "+" if step >= 0 else "−"
        return (f"clock ×{rate:g}",) if rate is not None else (f"clock {sign}{duration(abs(step))}",)
    if event.kind == "lost":
        return "told: lease lost", "lost"
    if event.kind == "promote":
        behind = listed(tuple(data.get("isolated") or ()))
        stays = f"; {behind} cut off with {data.get('of', 'the old one')}"
        return (f"promoted to primary{stays}",) * bool(behind) + ("promoted to primary", "promoted")
    if event.kind != "note":
        return (event.kind,)
    if data.get("deadlock"):
        return ("waits for ever",)
    return ("died of an exception", "died") if data.get("died") else (shorten(event.name, 150, TEXT),)


def called(op: Op) -> tuple[str, ...]:
    """An operation and how it ended, from many words to few."""
    reason = str(op.value.get("reason") or "refused").split(": ")[0]  # of an exception, its class
    name = f"{op.name} {op.args['value']}" if op.name == "write" and "value" in op.args else op.name
    if op.outcome == "ok":
        fence = op.value.get("fence")
        return (name,) if fence is None else (f"{name}, fence {fence}", name)
    if op.outcome == "fail":
        return f"{name}: {reason}", f"{name}: refused", name
    return f"{name}: no answer", "no answer", "?"
