"""The painter: the same bytes for the same run, in any process, text that stays text."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from labkit import viz
from tests.viz import builders

SVG = "{http://www.w3.org/2000/svg}"
AGAIN = (
    "from labkit import viz; from tests.viz import builders; import sys; sys.stdout.write(viz.svg(builders.fenced()))"
)

ROOT = Path(__file__).parents[2]


def texts(svg: str) -> list[str | None]:
    return [node.text for node in ElementTree.fromstring(svg).iter(f"{SVG}text")]


@pytest.mark.parametrize("build", [pytest.param(build, id=build.__name__) for build in builders.ALL])
def test_svg_is_well_formed_and_titled_with_the_summary(build: object) -> None:
    timeline = build()  # type: ignore[operator]
    root = ElementTree.fromstring(viz.svg(timeline))
    assert root.findtext(f"{SVG}title") == timeline.tell().splitlines()[0]


def test_equal_timelines_give_equal_bytes() -> None:
    assert viz.svg(builders.gc_pause()) == viz.svg(builders.gc_pause())
    assert viz.png(builders.redlock()) == viz.png(builders.redlock())


def test_another_process_gives_the_same_bytes() -> None:
    run = subprocess.run([sys.executable, "-c", AGAIN], capture_output=True, text=True, check=True, cwd=ROOT)
    assert run.stdout == viz.svg(builders.fenced())


def test_text_stays_text() -> None:
    assert "overlap 27 s" in texts(viz.svg(builders.gc_pause()))


def test_svg_carries_no_date() -> None:
    assert "dc:date" not in viz.svg(builders.redlock())


def test_the_card_is_opaque() -> None:
    first = next(ElementTree.fromstring(viz.svg(builders.redlock())).iter(f"{SVG}path"))
    assert "fill: #ffffff" in first.attrib["style"]


def test_png_is_a_png() -> None:
    assert viz.png(builders.redlock(), dpi=72).startswith(b"\x89PNG")


def test_a_figure_has_the_size_of_the_picture() -> None:
    assert viz.figure(builders.redlock()).get_size_inches()[0] == pytest.approx(9.5)


def test_pyplot_is_not_loaded() -> None:
    code = "import sys; from labkit import viz; from tests.viz import builders; viz.svg(builders.redlock()); "
    code += "sys.exit('matplotlib.pyplot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, cwd=ROOT).returncode == 0


def test_matplotlib_is_not_loaded_before_the_first_picture() -> None:
    code = "import sys; from labkit import viz; from tests.viz import builders; viz.layout(builders.redlock()); "
    code += "sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, cwd=ROOT).returncode == 0


def test_dollar_signs_are_no_formulas() -> None:
    script = builders.Script()
    script.add(0.0, "A", "note", "A pays $5 and $6.")
    assert "A pays $5 and $6." in texts(viz.svg(script.timeline()))
