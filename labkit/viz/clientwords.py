"""The texts in the lane of a client: its operations and what befalls it, in as few words as there is room for."""

from __future__ import annotations

from collections.abc import Iterator

from labkit.timeline import Event, Op
from labkit.viz.happenings import calls, cut_off, mine, paused
from labkit.viz.lanes import TEXT, Stage
from labkit.viz.palette import DANGER_TEXT, GREY, INK
from labkit.viz.words import Want, shorten
from labkit.wording import duration

FAULT, NEWS, USUAL, ASIDE = range(4)  # who is placed first


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
            few = (f"{fold.count} more tries, refused", f"{fold.count} more tries", f"×{fold.count}")
            yield Want(middle, few, GREY, NEWS, center=True)
    for op in calls(stage, node):
        calm = op.outcome == "ok" or (op.name, op.outcome) == ("acquire", "fail")
        yield Want(stage.x(op.call) - 2, called(op), GREY if calm else DANGER_TEXT, USUAL if calm else NEWS)


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
