"""What the errata on Redlock ask of a run that no check asks for; and several runs that tell one thing."""

from __future__ import annotations

from ..timeline import Op, Timeline
from ..wording import listed
from .erratum import Run, Shown, compared


def together(*runs: tuple[str, Run]) -> Run:
    """One showing of several runs, each with a few words on what it is, with all their sentences and the first one's
    string. Where they do not agree it shows nothing: each of them has to break, or to hold."""

    def run() -> Shown:
        shown = [(name, each()) for name, each in runs]
        outcomes = {each.holds for _, each in shown}
        holds = outcomes.pop() if len(outcomes) == 1 else None
        return Shown(holds, " ".join(f"{name}: {each.why}" for name, each in shown), shown[0][1].again)

    return run


def answered(timeline: Timeline) -> str:
    """What A was told, and when."""
    (asked,) = [op for op in timeline.ops("acquire") if op.node == "A"]
    if asked.outcome != "ok":
        return f"A was refused the lock at t = {asked.ret:.3f} s."
    return f"A was granted the lock at t = {asked.ret:.3f} s, until t = {asked.value['deadline']:.3f} s by its clock."


def nothing_left(timeline: Timeline) -> Shown:
    """Whether A, a second after it has left, has no key on any node; and when B had the lock."""
    (asked,) = [op for op in timeline.ops("acquire") if op.node == "A"]
    released = [op for op in timeline.ops("release") if op.grant == asked.seq]
    left, told = _leaving(asked, released)
    keys = {}
    for hold in timeline.truth("stock"):
        if hold.owner == "A" and hold.start <= left + 1.0 < hold.end:
            keys[hold.server] = hold.until if hold.why == "open" else hold.end
    why = f"A {told}; a second later {_having(keys)}; B had the lock at t = {_when(timeline, 'B'):.3f} s."
    return compared(not keys, why)


def _leaving(asked: Op, released: list[Op]) -> tuple[float, str]:
    assert asked.ret is not None
    if released and released[0].ret is not None:
        return released[0].ret, f"was granted the lock at t = {asked.ret:.3f} s and left at {released[0].ret:.3f} s"
    said = "was refused" if asked.outcome == "fail" else "was stopped by an error"
    return asked.ret, f"{said} at t = {asked.ret:.3f} s"


def _having(keys: dict[str, float | None]) -> str:
    if not keys:
        return "no node has its key"
    until = max(end for end in keys.values() if end is not None)
    return f"{listed(tuple(sorted(keys)))} still {'has' if len(keys) == 1 else 'have'} its key, until t = {until:.3f} s"


def _when(timeline: Timeline, node: str) -> float:
    return next(belief.start for belief in timeline.belief("stock") if belief.node == node)
