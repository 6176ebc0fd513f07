"""Every story of the course has a picture that can be read."""

from __future__ import annotations

from itertools import combinations

import pytest

from labkit.checks import judge
from labkit.stories import STORIES, play
from labkit.viz.layout import layout
from labkit.viz.shapes import clash


@pytest.mark.parametrize("name", STORIES)
def test_no_two_texts_overlap(name: str) -> None:
    timeline = play(name)
    labels = layout(timeline, judge(timeline).verdicts).labels
    assert [(a.text, b.text) for a, b in combinations(labels, 2) if clash(a.rect, b.rect)] == []


@pytest.mark.parametrize("name", STORIES)
def test_nothing_is_cut(name: str) -> None:
    assert not [label.text for label in layout(play(name)).labels if "not shown" in label.text]
