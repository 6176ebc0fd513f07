"""All errata that are grave are there, say where the course teaches them, and run or name their source."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from labkit.errata import ERRATA, GRADES, Erratum, find
from labkit.stories import STORIES

ROOT = Path(__file__).parent.parent.parent
CORRUPTING = """
    E04 E20 E21 E22 E23 E28 E31 E32 E34 E35 E37 E43 E44 E45 E50 E60 E61 E66 E67 E68 E72 E76 E78 E80 E82 E83 E84 E90
    E93 E95 E96 E97 E101
""".split()
WRONG = """
    E02 E03 E05 E07 E10 E11 E13 E16 E24 E27 E33 E36 E38 E39 E40 E41 E42 E51 E52 E53 E54 E62 E65 E69 E73 E77 E79 E85 E87
    E91 E92 E98 E99 E100
""".split()
NOTEBOOK = re.compile(r"notebook (\d\d)(?:, “([^”]+)”)?")
UNWRITTEN = ("06", "07")  # their headings are not asked for


@pytest.mark.parametrize("number", sorted([*CORRUPTING, *WRONG], key=lambda number: int(number[1:])))
def test_every_grave_erratum_is_there_with_its_grade(number: str) -> None:
    assert ERRATA[number].grade == (3 if number in CORRUPTING else 2)


all_of_them = pytest.mark.parametrize("erratum", ERRATA.values(), ids=list(ERRATA))


@all_of_them
def test_an_erratum_runs_or_names_its_source(erratum: Erratum) -> None:
    assert (erratum.wrong is None) == (erratum.right is None)
    assert erratum.wrong is not None or erratum.source.strip()


@all_of_them
def test_an_erratum_says_what_it_is_about(erratum: Erratum) -> None:
    assert re.fullmatch(r"E\d\d\d?", erratum.number)
    assert erratum.grade in GRADES
    assert all((erratum.section, erratum.claim, erratum.truth, erratum.where))


def headings(notebook: str) -> set[str]:
    """The headings of a notebook, as they stand."""
    (path,) = (ROOT / "notebooks").glob(f"{notebook}-*.ipynb")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    lines = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown").splitlines()
    return {line.lstrip("# ").strip() for line in lines if line.startswith("#")}


@all_of_them
def test_the_place_where_it_is_taught_exists(erratum: Erratum) -> None:
    places = NOTEBOOK.findall(erratum.where)
    for notebook, heading in places:
        assert notebook in UNWRITTEN or (heading and heading in headings(notebook)), erratum.where
    other = re.search(r"question \d|exercise|\bq[1-7]\b", erratum.where)
    assert places or other or any(name in erratum.where for name in STORIES), erratum.where


def test_an_erratum_is_found_by_its_number_however_it_is_typed() -> None:
    assert find(" e04") is ERRATA["E04"]


def test_a_number_that_is_none_is_answered_with_those_there_are() -> None:
    with pytest.raises(ValueError, match="No erratum is called 'E999'; there are E01, "):
        find("E999")


def test_they_are_in_the_order_of_their_numbers() -> None:
    numbers = [int(number[1:]) for number in ERRATA]
    assert numbers == sorted(numbers)
