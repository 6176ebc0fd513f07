"""Time on the picture: in order, readable, honest about its scale."""

from __future__ import annotations

from itertools import pairwise

import pytest

from labkit.viz.warp import Warp


def test_order_is_kept_and_the_room_is_used() -> None:
    warp = Warp.over([0.0, 0.0005, 0.001, 10.0, 37.0], 100.0, 600.0)
    places = [warp(t) for t in (0.0, 0.0005, 0.001, 10.0, 37.0)]
    assert places == sorted(places)
    assert (places[0], places[-1]) == (100.0, pytest.approx(600.0))


def test_a_millisecond_beside_half_a_minute_can_be_seen() -> None:
    warp = Warp.over([0.0, 0.001, 30.0], 0.0, 500.0)
    assert warp(0.001) - warp(0.0) > 20


def test_a_longer_gap_is_wider() -> None:
    times = [0.0, 0.001, 0.011, 0.5, 3.0, 33.0]
    warp = Warp.over(times, 0.0, 500.0)
    widths = [warp(b) - warp(a) for a, b in pairwise(times)]
    assert widths == sorted(widths)


def test_evenly_spread_moments_stay_to_scale() -> None:
    warp = Warp.over([0.0, 1.0, 2.0, 4.0], 0.0, 400.0)
    assert warp.to_scale
    assert warp(3.0) == pytest.approx(300.0)
    assert warp.breaks == ()


def test_the_most_compressed_gap_is_marked() -> None:
    warp = Warp.over([0.0, 0.001, 0.002, 1.0, 31.0], 0.0, 500.0)
    assert not warp.to_scale
    assert [round(x) for x in warp.breaks] == [round((warp(1.0) + warp(31.0)) / 2)]


def test_a_thousand_moments_still_fit() -> None:
    warp = Warp.over([n * 0.1 for n in range(1000)] + [5000.0], 0.0, 500.0)
    assert warp(5000.0) == pytest.approx(500.0)


def test_moments_before_and_after_the_run_fall_on_its_ends() -> None:
    warp = Warp.over([1.0, 2.0], 0.0, 100.0)
    assert (warp(0.0), warp(9.0)) == (0.0, 100.0)


@pytest.mark.parametrize("moments", [[], [0.0], [3.0]])
def test_a_run_of_one_moment_has_a_scale(moments: list[float]) -> None:
    assert 0.0 <= Warp.over(moments, 0.0, 100.0)(3.0) <= 100.0
