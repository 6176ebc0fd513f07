"""The history as text and as a picture."""

from datetime import UTC
from xml.etree import ElementTree

from labkit.interview import AXES, history, svg, text

from .conftest import review

TWO = history([review(interview="a", got="no"), review(interview="b", at="2026-03-02T12:00:00Z", question="n2")])
SVG = "{http://www.w3.org/2000/svg}"


def test_the_text_has_each_interview_with_its_local_time_and_levels():
    lines = text(TWO, UTC).splitlines()
    assert lines[0] == "Sun 01 Mar 2026, 12:05 UTC  n1"
    assert lines[1].strip().startswith("communication sound, problem solving not yet, technical depth in parts")


def test_the_text_has_a_line_of_levels_for_each_axis_with_the_newest_on_the_right():
    assert "  problem solving 1  4" in text(TWO, UTC).splitlines()


def test_what_was_not_tested_is_a_dash_and_not_a_level():
    assert "  communication   -" in text(history([review(clear=0)]), UTC)


def test_without_interviews_the_text_says_how_to_begin():
    assert text([]) == "No interviews yet: `labkit interview` asks the first questions."


def test_the_picture_has_a_bar_for_each_level():
    root = ElementTree.fromstring(svg(TWO, UTC))
    heights = [int(bar.get("height", "")) for bar in root.iter(f"{SVG}rect")][1:]
    levels = [each.levels[axis] or 0 for axis in AXES for each in TWO]
    assert heights == [12 * level for level in levels]


def test_the_picture_says_in_words_what_it_shows():
    title = ElementTree.fromstring(svg(TWO, UTC)).find(f"{SVG}title")
    assert title is not None and title.text is not None and "communication sound" in title.text


def test_a_long_history_shows_the_newest():
    many = history([review(interview=f"{n:02}", at=f"2026-03-{n:02}T12:00:00Z") for n in range(1, 31)])
    assert "30 Mar" in text(many, UTC) and "05 Mar" not in text(many, UTC)
    assert len(ElementTree.fromstring(svg(many, UTC)).findall(f".//{SVG}g")) == 12 * len(AXES)
