"""docs/errata.md is what the runs say now, and is only ever written by tools/errata.py."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from labkit.errata import ERRATA, Shown
from labkit.errata.report import Row, markdown, run, summary

ROOT = Path(__file__).parent.parent.parent


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("errata_tool", ROOT / "tools" / "errata.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


tool = load()
KEPT, BROKE = Shown(True, "It holds."), Shown(False, "It breaks | in two.", "shared-id #0")
E04 = Row(ERRATA["E04"], BROKE, KEPT)


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page elsewhere, of one erratum."""
    monkeypatch.setattr(tool, "PAGE", tmp_path / "errata.md")
    monkeypatch.setattr(tool, "ERRATA", {"E04": ERRATA["E04"]})
    return tmp_path / "errata.md"


def test_the_page_of_the_docs_is_what_the_runs_say_now() -> None:
    rows = [run(erratum) for erratum in ERRATA.values()]
    assert (ROOT / "docs" / "errata.md").read_text(encoding="utf-8") == tool.page(rows)
    assert summary(rows).endswith("each breaks as said, and holds when repaired.")


def test_the_page_is_written_once_and_then_unchanged(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tool.main([]) == 0
    assert "changed. 1 erratum" in capsys.readouterr().out
    written = page.read_bytes()
    assert tool.main(["--check"]) == 0
    assert "unchanged. 1 erratum" in capsys.readouterr().out
    assert page.read_bytes() == written


def test_a_check_finds_what_was_written_by_hand_and_leaves_it(page: Path) -> None:
    tool.main([])
    page.write_text(page.read_text(encoding="utf-8").replace("12.002", "12.003"), encoding="utf-8")
    edited = page.read_bytes()
    assert tool.main(["--check"]) == 1
    assert page.read_bytes() == edited
    assert tool.main([]) == 0
    assert page.read_bytes() != edited


def test_an_erratum_that_is_not_as_it_should_be_is_written_and_ends_with_1(
    page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tool, "ERRATA", {"E04": replace(ERRATA["E04"], right=lambda: BROKE)})
    assert tool.main([]) == 1
    assert "E04 not as it should be" in page.read_text(encoding="utf-8")


def test_what_would_end_a_cell_does_not() -> None:
    (line,) = (line for line in markdown([E04]).splitlines() if "It breaks" in line)
    assert "| ✗ It breaks \\| in two. | ✓ It holds. |" in line


def test_every_line_of_a_table_has_as_many_cells_as_its_head() -> None:
    rows = [E04, Row(ERRATA["E01"], None, None)]
    tables = [line.replace("\\|", "") for line in markdown(rows).splitlines() if line.startswith("|")]
    assert [line.count("|") for line in tables] == [6] * 6 + [5] * 3


def test_one_that_is_not_run_stands_where_it_says_why() -> None:
    _, _, below = markdown([E04, Row(ERRATA["E01"], None, None)]).partition("## Not run here")
    (line,) = (line for line in below.splitlines() if "**E01**" in line)
    assert ERRATA["E01"].source in line
