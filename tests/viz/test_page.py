"""HTML: one image with a sentence in its place, and the run in words."""

from __future__ import annotations

import re
from base64 import b64decode

from labkit import viz
from labkit.timeline import Timeline
from tests.viz import builders
from tests.viz.builders import Script


def test_there_is_one_image_and_its_alt_is_the_first_sentence() -> None:
    page = viz.html(builders.gc_pause())
    assert page.count("<img") == 1
    assert f'alt="{builders.gc_pause().tell().splitlines()[0]}"' in page


def test_the_image_is_the_svg_itself() -> None:
    page = viz.html(builders.redlock())
    data = re.search(r'src="data:image/svg\+xml;base64,([^"]+)"', page)
    assert data and b64decode(data[1]).decode() == viz.svg(builders.redlock())


def test_the_words_follow_the_image() -> None:
    assert "<li>t=2.000 s A is paused for 35 s.</li>" in viz.html(builders.gc_pause())


def test_names_are_escaped() -> None:
    script = Script()
    script.refused(0.0, "B", key="<b>&\"'")
    page = viz.html(script.timeline())
    assert "<b>" not in page
    assert "&lt;b&gt;" in page


def test_a_long_run_says_how_many_sentences_are_missing() -> None:
    assert "180 more sentences are not shown" in viz.html(builders.busy())


def test_an_empty_run_has_a_page() -> None:
    assert "Nothing happened in this run." in viz.html(Timeline(()))


def test_nothing_is_loaded_from_elsewhere() -> None:
    assert not re.search(r'(?:src|href)="(?!data:)', viz.html(builders.gc_pause()))
