"""Time on a picture: from seconds to points, so that a millisecond and half a minute can both be read.

Where a plain scale keeps neighbouring moments apart, it is used. Where not, each gap between two moments gets a width
that grows with the fourth root of its length: order and rough proportion stay, a gap ten thousand times as long is
ten times as wide. The axis says real times, says that it is not to scale, and marks the most compressed gaps.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

ROOT = 0.25
LEAST = 4.0  # points between two moments, if there is room for that
SAME = 1e-7  # seconds below which two moments count as one
DENSE = 1.5


@dataclass(frozen=True, slots=True)
class Warp:
    """A monotone map from seconds to points. breaks: the gaps (in points) that hide most time."""

    times: tuple[float, ...]
    places: tuple[float, ...]
    to_scale: bool

    @classmethod
    def over(cls, moments: Iterable[float], left: float, right: float) -> Warp:
        """The map that spreads these moments from `left` to `right`."""
        times = _apart(sorted(moments))
        if len(times) < 2:
            return (
                cls((0.0, 1.0), (left, right), True)
                if not times
                else cls((times[0], times[0] + 1), (left, right), True)
            )
        gaps = [b - a for a, b in pairwise(times)]
        linear = [gap / sum(gaps) * (right - left) for gap in gaps]
        to_scale = min(linear) >= LEAST
        widths = linear if to_scale else _spread(gaps, right - left)
        places = [left]
        for wide in widths:
            places.append(places[-1] + wide)
        return cls(tuple(times), tuple(places), to_scale)

    def __call__(self, t: float) -> float:
        n = min(max(bisect_right(self.times, t) - 1, 0), len(self.times) - 2)
        (t0, t1), (x0, x1) = self.times[n : n + 2], self.places[n : n + 2]
        return x0 + (min(max(t, t0), t1) - t0) / (t1 - t0) * (x1 - x0)

    @property
    def breaks(self) -> tuple[float, ...]:
        """The middles of the gaps in which a point stands for more than DENSE times as much time as on average."""
        if self.to_scale:
            return ()
        average = (self.times[-1] - self.times[0]) / (self.places[-1] - self.places[0])
        steps = zip(pairwise(self.times), pairwise(self.places), strict=True)
        return tuple(
            (x0 + x1) / 2 for (t0, t1), (x0, x1) in steps if x1 - x0 > 14 and (t1 - t0) / (x1 - x0) > DENSE * average
        )


def _apart(times: list[float]) -> list[float]:
    kept = times[:1]
    for t in times:
        if t - kept[-1] > SAME:
            kept.append(t)
    return kept


def _spread(gaps: list[float], room: float) -> list[float]:
    least = min(LEAST, room / len(gaps) / 2)
    weights = [gap**ROOT for gap in gaps]
    rest = room - least * len(gaps)
    return [least + rest * weight / sum(weights) for weight in weights]
