"""What a notebook shows: a picture with words, and a text that is the same in every run."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from labkit.verdict import Verdict
from labkit.viz.formatters import register, timeline_text
from tests.viz import builders

ROOT = Path(__file__).parents[2]


@pytest.fixture
def shell() -> Iterator[Any]:
    yield InteractiveShell.instance()
    InteractiveShell.clear_instance()


def shown(shell: Any, value: object) -> dict[str, Any]:
    assert register()
    found: dict[str, Any] = shell.display_formatter.format(value)[0]
    return found


def test_a_timeline_shows_as_picture_and_as_text(shell: Any) -> None:
    found = shown(shell, builders.gc_pause())
    assert set(found) == {"text/html", "text/plain"}
    assert found["text/html"].startswith('<div style="overflow-x:auto"><img alt=')
    assert found["text/plain"] == timeline_text(builders.gc_pause())


def test_the_text_says_what_happened_and_how_to_see_it_again() -> None:
    first, second = timeline_text(builders.gc_pause()).splitlines()
    assert first.startswith("A and B both believed")
    assert second == "57 events in 40 s; the same run again: labkit.replay('gc-pause #7')"


def test_a_verdict_shows_as_its_text(shell: Any) -> None:
    verdict = Verdict("A claim.", False, "It broke.")
    assert shown(shell, verdict)["text/plain"] == str(verdict)


def test_a_list_of_verdicts_shows_each(shell: Any) -> None:
    text = shown(shell, [Verdict("One.", True, "Yes."), Verdict("Two.", None, "Perhaps.")])["text/plain"]
    assert "holds  One." in text
    assert "unknown  Two." in text


def test_registering_twice_is_harmless(shell: Any) -> None:
    assert register()
    assert register()


def test_registering_loads_neither_ipython_nor_matplotlib() -> None:
    code = "import sys; from labkit.viz.formatters import register; done = register(); "
    code += "sys.exit(done or 'IPython' in sys.modules or 'matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, cwd=ROOT).returncode == 0
