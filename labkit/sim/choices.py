"""The one oracle: every choice that a run could make differently is asked here.

A choice has a kind ("latency", "tie"), a node, and a number: its place among the choices of that kind at that node.
Alternative 0 is always the default. What was taken off the default is the *tape*, `latency.A.3=2,tie.redis.7=1`;
played back it gives the same run, and removing one entry leaves the others where they were.

    seed 0, no tape    every choice takes its default: the plain schedule
    seed n, no tape    choices wander, drawn from the seed
    a tape             choices follow the tape, the default elsewhere ("." is the empty tape)
"""

from __future__ import annotations

import random
import re

PLAIN = "."
ENTRY = re.compile(r"[a-z]+\.[\w-]+\.[1-9][0-9]*=[0-9]+")


class Choices:
    """Answers `pick`. Raises ValueError, naming the entry, for a tape that cannot be read."""

    def __init__(self, seed: int = 0, tape: str = "") -> None:
        self._given = _read(tape)
        self._draw = random.Random(f"choices/{seed}") if seed and not tape else None
        self._nth: dict[tuple[str, str], int] = {}
        self.taken: dict[str, int] = {}
        self.asked: list[tuple[str, int]] | None = None  # places in the order in which they came up, with what there is
        self.free = bool(self._given or self._draw)

    def pick(self, kind: str, node: str, alternatives: int) -> int:
        """One of 0 … alternatives - 1; 0 unless the tape or the seed says otherwise."""
        if not self.free:
            return 0
        nth = self._nth[kind, node] = self._nth.get((kind, node), 0) + 1
        place = f"{kind}.{node}.{nth}"
        if self.asked is not None:
            self.asked.append((place, alternatives))
        choice = self._draw.randrange(alternatives) if self._draw else self._given.get(place, 0)
        if choice:
            self.taken[place] = choice = min(choice, alternatives - 1)
        return choice

    def listen(self) -> list[tuple[str, int]]:
        """From now on writes down each place at which something could be chosen; returns the growing list."""
        self.free, self.asked = True, []
        return self.asked

    @property
    def tape(self) -> str:
        """The choices of this run that were not the default."""
        return ",".join(f"{place}={choice}" for place, choice in self.taken.items()) or PLAIN


def _read(tape: str) -> dict[str, int]:
    entries: dict[str, int] = {}
    for entry in filter(None, tape.split(",")) if tape != PLAIN else ():
        if not ENTRY.fullmatch(entry):
            raise ValueError(f"The tape entry {entry!r} does not read kind.node.nth=choice, for example latency.A.3=2.")
        place, _, choice = entry.partition("=")
        entries[place] = int(choice)
    return entries
