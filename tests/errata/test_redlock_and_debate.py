"""The errata on Redlock, on the debate, and on questions one and two: the article's way breaks, the repair holds."""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path

import pytest

from labkit import replay
from labkit.errata import Erratum, Run, Shown, debate
from labkit.errata.five import together

ROOT = Path(__file__).parents[2]
PARTS = {"redlock": range(30, 40), "debate": range(40, 47), "q1": range(60, 64), "q2": range(65, 71)}
MINE: list[Erratum] = [e for part in PARTS for e in importlib.import_module(f"labkit.errata.{part}").ERRATA]
RUN = [erratum for erratum in MINE if erratum.wrong]
NOT_RUN = {"E39", "E65"}  # Java, both
by_number = pytest.mark.parametrize("erratum", RUN, ids=lambda erratum: erratum.number)


@by_number
def test_what_the_article_says_breaks(erratum: Erratum) -> None:
    assert erratum.wrong
    shown = erratum.wrong()
    assert shown.holds is False, shown


@by_number
def test_the_repair_holds(erratum: Erratum) -> None:
    assert erratum.right
    shown = erratum.right()
    assert shown.holds is True, shown


@by_number
def test_a_run_says_the_same_each_time_in_whole_sentences_with_figures(erratum: Erratum) -> None:
    for run in (erratum.wrong, erratum.right):
        assert run
        shown = run()
        assert run() == shown
        assert shown.why.endswith((".", ".»"))
        assert shown.why[0].isupper() or shown.why[0].isdigit()


@by_number
def test_a_string_that_is_shown_gives_a_run_again(erratum: Erratum) -> None:
    for run in (erratum.wrong, erratum.right):
        assert run
        again = run().again
        assert not again or replay(again).token == again


@pytest.mark.parametrize("part", PARTS)
def test_no_number_of_a_part_is_left_out(part: str) -> None:
    listed = [erratum.number for erratum in importlib.import_module(f"labkit.errata.{part}").ERRATA]
    assert listed == [f"E{number}" for number in PARTS[part]]


def test_what_is_not_run_says_why_and_who_says_so() -> None:
    assert {erratum.number for erratum in MINE if erratum.wrong is None} == NOT_RUN
    for erratum in MINE:
        assert (erratum.wrong is None) == (erratum.right is None)
        assert erratum.wrong or erratum.source.startswith("Not run here, for it")


@pytest.mark.parametrize("grants", [0, 1, 9])
def test_too_few_grants_show_no_order(grants: int) -> None:
    class Ends:
        acquired = 0

        def try_acquire(self) -> int:
            if self.acquired == grants:
                raise SystemExit
            self.acquired += 1
            return self.acquired

        def release(self, lease: int) -> None: ...

    shown = debate.ordered("numbers", lambda me: Ends(), lambda lease: lease)
    assert shown == Shown(None, f"The client came to its end after {grants} of 10 grants.")


# -- where the course teaches it ---------------------------------------------------------------------------------------


def headings(pattern: str) -> set[str]:
    (found,) = ROOT.glob(pattern)
    cells = json.loads(found.read_text(encoding="utf-8"))["cells"]
    text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    return set(re.findall(r"^#+ (.*?)(?: \(\d+ minutes\))?$", text, re.MULTILINE))


PLACES = sorted({place for erratum in MINE for place in erratum.where.split("; ")})


@pytest.mark.parametrize("place", PLACES)
def test_the_place_where_it_is_taught_exists(place: str) -> None:
    kind, name, heading = re.fullmatch(r"(notebook|exercise) (\w+)(?:, “(.*)”)?", place).groups()  # type: ignore[union-attr]
    if heading is not None:
        assert heading in headings(f"notebooks/{name}-*.ipynb" if kind == "notebook" else f"exercises/{name}.ipynb")


# -- several runs as one -----------------------------------------------------------------------------------------------


def saying(holds: bool | None) -> Run:
    return lambda: Shown(holds, f"It is {holds}.", f"{holds} #0")


@pytest.mark.parametrize(
    ("parts", "whole"),
    [((True, True), True), ((False, False), False), ((True, False), None), ((False, None), None), ((True, None), None)],
)
def test_runs_together_show_what_all_of_them_show(parts: tuple[bool | None, ...], whole: bool | None) -> None:
    assert together(*((f"{n}", saying(part)) for n, part in enumerate(parts)))().holds is whole


def test_runs_together_tell_what_each_has_shown() -> None:
    shown = together(("One", saying(True)), ("Two", saying(False)))()
    assert shown == Shown(None, "One: It is True. Two: It is False.", "True #0")
