"""What a picture is made of: boxes, lines, arrows, marks and labels, as plain values in points from the top left.

A shape knows where it is and what it looks like, and nothing of the run or of the library that paints it. So a
picture can be compared, tested and painted by more than one painter.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from labkit.viz.words import width

Align = Literal["left", "center", "right"]
Rect = tuple[float, float, float, float]

BACK, SHADE, GRID, BAR, TOP = range(5)  # layers, painted in this order


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle. hatch: slanted lines in the colour of the edge; dash: a dashed edge."""

    x0: float
    y0: float
    x1: float
    y1: float
    fill: str
    edge: str = "none"
    layer: int = BAR
    alpha: float = 1.0
    hatch: bool = False
    dash: bool = False

    def down(self, dy: float) -> Box:
        return replace(self, y0=self.y0 + dy, y1=self.y1 + dy)


@dataclass(frozen=True, slots=True)
class Line:
    points: tuple[tuple[float, float], ...]
    color: str
    width: float = 0.7
    dash: bool = False
    layer: int = GRID

    def down(self, dy: float) -> Line:
        return replace(self, points=tuple((x, y + dy) for x, y in self.points))


@dataclass(frozen=True, slots=True)
class Arrow:
    """A packet on its way; one that is lost ends in a cross instead of a head."""

    x0: float
    y0: float
    x1: float
    y1: float
    color: str
    lost: bool = False


@dataclass(frozen=True, slots=True)
class Mark:
    """A sign at a point: "dot", "hollow", "cross", "crash", "bar", "up", "ring", "wedge"."""

    x: float
    y: float
    shape: str
    color: str
    size: float = 3.0

    def down(self, dy: float) -> Mark:
        return replace(self, y=self.y + dy)


@dataclass(frozen=True, slots=True)
class Label:
    """A text. y is its middle; plate: it stands on a light plate, so that lines below do not cross it."""

    x: float
    y: float
    text: str
    size: float = 7.5
    color: str = "#1b1f24"
    bold: bool = False
    align: Align = "left"
    plate: bool = False

    def down(self, dy: float) -> Label:
        return replace(self, y=self.y + dy)

    @property
    def rect(self) -> Rect:
        """The room that the text takes: left, top, right, bottom."""
        wide = width(self.text, self.size, self.bold)
        left = self.x - {"left": 0.0, "center": wide / 2, "right": wide}[self.align]
        return left, self.y - 0.58 * self.size, left + wide, self.y + 0.58 * self.size


Shape = Box | Line | Mark | Label


@dataclass(frozen=True, slots=True)
class Picture:
    """A laid out run: the card's size in points, its shapes, and the sentence that stands for it (`alt`)."""

    width: float
    height: float
    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]
    arrows: tuple[Arrow, ...]
    marks: tuple[Mark, ...]
    labels: tuple[Label, ...]
    alt: str


def clash(a: Rect, b: Rect) -> bool:
    """Whether two rectangles share some area."""
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
