"""Texts are measured well enough to keep them apart, and cut where they must be."""

from __future__ import annotations

import pytest
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

from labkit.viz.words import Want, fit, shorten, stack, width, wrap

SAMPLES = [
    "believes it holds stock",
    "A until 10.001 s",
    "WWW mmm iii",
    "{lock}:0/8~",
    "13 more tries, refused",
    "×97 …",
]


@pytest.mark.parametrize("bold", [False, True])
@pytest.mark.parametrize("text", SAMPLES)
def test_a_text_is_no_wider_than_reckoned(text: str, bold: bool) -> None:
    font = FontProperties(family="DejaVu Sans", weight="bold" if bold else "normal")
    drawn = TextPath((0, 0), text, size=8, prop=font).get_extents().width
    assert drawn <= width(text, 8, bold) + 0.5
    assert width(text, 8, bold) <= drawn * 1.25


def test_the_longest_wording_that_fits_is_taken() -> None:
    assert fit(("a long wording", "short", "s"), width("short", 8), 8) == "short"


def test_no_wording_is_taken_where_none_fits() -> None:
    assert fit(("word",), 2.0, 8) == ""


def test_a_text_is_cut_with_an_ellipsis_that_fits_too() -> None:
    cut = shorten("a rather long sentence", 50.0, 8)
    assert cut.endswith("…")
    assert width(cut, 8) <= 50.0


def test_a_text_that_fits_is_left_alone() -> None:
    assert shorten("short", 500.0, 8) == "short"


def test_a_sentence_is_wrapped_between_words() -> None:
    assert wrap("one two three four", width("one two", 8), 8, most=3) == ["one two", "three", "four"]


def test_an_equation_is_not_torn_apart() -> None:
    assert wrap("at t = 1.5", width("at t =", 8), 8)[0] == "at"


def test_important_texts_come_first_and_none_overlaps() -> None:
    wants = [Want(0.0, ("usual",), "k", 2), Want(0.0, ("fault",), "k", 0), Want(0.0, ("other",), "k", 2)]
    placed = stack(wants, 0.0, 100.0, 8, rows=2)
    assert [(p.text, p.row) for p in placed] == [("fault", 0), ("usual", 1), ("other", 0)][: len(placed)]
    assert placed[0].text == "fault"


def test_a_text_stays_within_its_bounds() -> None:
    (placed,) = stack([Want(95.0, ("a text at the edge",), "k")], 0.0, 100.0, 8)
    assert placed.left + width(placed.text, 8) <= 100.0
