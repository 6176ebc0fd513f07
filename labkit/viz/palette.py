"""Colours of a picture. Nodes take the colour-blind safe ones of Okabe and Ito; their red-orange is kept for danger.

No meaning rests on colour alone: bars carry names, states have hatches, outcomes have marks. All fills are light and
opaque, so that dark text can be read on them on any page.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

CARD, INK, GREY, FAINT, PALE = "#ffffff", "#1b1f24", "#59636e", "#d0d7de", "#f6f8fa"
PAUSE, PAUSE_EDGE = "#dfe3e8", "#afb8c1"
DANGER, DANGER_TEXT = "#d55e00", "#a33f00"
NODES = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#b8a800", "#6f4e9c")


@dataclass(frozen=True, slots=True)
class Inks:
    """The colour of each client, in the order in which they appear."""

    names: tuple[str, ...]

    def of(self, node: str) -> str:
        return NODES[self.names.index(node) % len(NODES)] if node in self.names else GREY

    def tint(self, node: str) -> str:
        return mix(self.of(node), 0.34)

    def text(self, node: str) -> str:
        """The colour darkened, so that small text has enough contrast on white."""
        return mix(self.of(node), 0.62, "#000000")


def mix(color: str, share: float, other: str = "#ffffff") -> str:
    """`share` of a colour in another."""
    parts = zip(_rgb(color), _rgb(other), strict=True)
    return "#" + "".join(f"{round(a * share + b * (1 - share)):02x}" for a, b in parts)


def _rgb(color: str) -> Iterable[int]:
    return (int(color[n : n + 2], 16) for n in (1, 3, 5))
