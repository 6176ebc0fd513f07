"""The safety matrix: its letters follow from searches, its strings play their breaks again, bad names are refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from labkit import judge, replay, search
from labkit.explore import Outcome
from labkit.explore.matrix import COLUMNS, Cell, cell, cells, searched
from labkit.explore.report import html, markdown, text

DOCS = Path(__file__).parent.parent.parent / "docs"
RECORDED = json.loads((DOCS / "matrix.json").read_text(encoding="utf-8"))
BREAKS = [row for row in RECORDED if row["verdict"] == "U"]


@pytest.mark.parametrize("row", BREAKS, ids=lambda row: f"{row['row']}-{row['column']}")
def test_a_recorded_break_breaks_again(row: dict[str, str]) -> None:
    verdicts = judge(replay(row["replay"]), *COLUMNS[row["column"]].claims)
    assert verdicts.holds is False
    assert row["why"] in [verdict.why for verdict in verdicts.verdicts]


SAFE = [row for row in RECORDED if row["verdict"] in "SD" and row["replay"]]


@pytest.mark.parametrize("row", SAFE, ids=lambda row: f"{row['row']}-{row['column']}")
def test_a_recorded_run_in_which_the_store_had_to_refuse_is_safe(row: dict[str, str]) -> None:
    assert judge(replay(row["replay"]), *COLUMNS[row["column"]].claims).holds is not False


@pytest.mark.parametrize(("row", "column"), [("R1", "F1"), ("R3", "F2"), ("R6a", "F2"), ("R10", "F10")])
def test_a_cell_searched_now_is_the_recorded_one(row: str, column: str) -> None:
    recorded = next(r for r in RECORDED if (r["row"], r["column"]) == (row, column))
    found = cell(row, column)
    assert (found.verdict, found.schedule, found.replay) == (
        recorded["verdict"],
        recorded["schedule"],
        recorded["replay"],
    )


def test_a_lock_that_holds_is_said_to_within_its_bounds() -> None:
    found = cell("R3", "F1")
    assert found.verdict == "S"
    assert "up to 2 fault(s)" in found.bounds


def test_what_cannot_happen_is_no_search() -> None:
    assert cell("R7", "F4") == Cell("R7", "F4", "–", why="it cannot happen to this lock")


def test_two_processes_find_what_one_finds() -> None:
    assert searched(["R1", "R2"], ["F1", "F5"], workers=2) == list(cells(["R1", "R2"], ["F1", "F5"]))


def test_the_table_has_a_letter_for_each_cell_and_a_string_for_each_break() -> None:
    found = [Cell(**row) for row in RECORDED]
    said = text(found)
    assert all(row["replay"] in said for row in BREAKS)
    assert html(found).count("<td style") == len(found)


@pytest.mark.parametrize(("rows", "columns"), [(["R99"], ["F1"]), (["R1"], ["F99"])])
def test_a_cell_that_does_not_exist_is_refused(rows: list[str], columns: list[str]) -> None:
    with pytest.raises(ValueError, match="99"):
        list(cells(rows, columns))


def test_the_page_of_the_docs_is_what_was_recorded() -> None:
    page = (DOCS / "matrix.md").read_text(encoding="utf-8")
    assert markdown([Cell(**row) for row in RECORDED]) in page


def test_the_page_names_the_versions_that_the_lock_file_pins() -> None:
    page = (DOCS / "matrix.md").read_text(encoding="utf-8")
    pins = (DOCS.parent / "requirements-dev.lock").read_text(encoding="utf-8")
    for package in ("redis", "python-redis-lock", "pottery", "redlock-py"):
        version = next(line.split("==")[1].split()[0] for line in pins.splitlines() if line.startswith(f"{package}=="))
        assert f"{package} {version}" in page


@pytest.mark.parametrize("row", ["R3", "R8", "R9"])
def test_a_holder_that_looks_at_its_lease_once_more_survives_a_cut_link(row: str) -> None:
    bounds = {"faults": ("cut",), "most": 1, "work": 12.0}
    assert search("increment", "no_lost_update", row=row, **bounds).outcome is Outcome.BROKEN
    assert search("increment", "no_lost_update", row=row, looks=1, **bounds).outcome is Outcome.EXHAUSTED
