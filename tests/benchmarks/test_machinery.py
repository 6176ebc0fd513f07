"""The machinery of the benchmarks, with figures made up: rows, verdicts, statistics, exit status. No time is judged."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable
from typing import Any

import pytest

from benchmarks import common
from benchmarks.__main__ import FIGURES, ROUNDS, main
from benchmarks.common import Figure, Row
from benchmarks.leak import IN_ALL

GOOD = Row("quick enough", 3.0, "ms", 8.0, spread=(2.5, 3.5), note="a story of two")
SHORT = Row("too slow", 9.0, "ms", 8.0)
ABSENT = Row("no server", None, "×", 1.15, note="none was found")
TOLD = Row("by the way", 12_345.6)


def fake(*rows: Row) -> Figure:
    return lambda rounds: list(rows)


def run(*words: str, **figures: Figure) -> int:
    return main(words, figures, {})


# -- rows ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "verdict", "failed"),
    [
        (Row("a", 1.15, goal=1.15), "ok", False),
        (Row("a", 1.16, goal=1.15), "short", True),
        (Row("a", 0.99, goal=1.0, sense="below"), "ok", False),
        (Row("a", 1.0, goal=1.0, sense="below"), "short", True),
        (Row("a", 250_000, goal=250_000, sense="at least"), "ok", False),
        (Row("a", 249_999, goal=250_000, sense="at least"), "short", True),
        (Row("a", 1.0), "reported", False),
        (Row("a", None, goal=1.0), "missing", True),
        (Row("a", None), "missing", False),
    ],
)
def test_a_row_knows_whether_its_goal_is_reached(row: Row, verdict: str, failed: bool) -> None:
    assert (row.verdict, row.failed) == (verdict, failed)


# -- the command -----------------------------------------------------------------------------------------------


def test_the_status_is_0_when_all_goals_are_reached() -> None:
    assert run(one=fake(GOOD, TOLD)) == 0


def test_the_status_is_1_when_one_goal_is_missed() -> None:
    assert run(one=fake(GOOD), two=fake(SHORT, TOLD)) == 1


def test_the_status_is_1_when_a_goal_could_not_be_measured() -> None:
    assert run(one=fake(ABSENT)) == 1


def test_a_row_is_printed_for_each_figure(capsys: pytest.CaptureFixture[str]) -> None:
    run(one=fake(GOOD, SHORT), two=fake(ABSENT, TOLD))
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["quick", "enough", "3.00", "ms", "2.50", "…", "3.50", "≤", "8.00", "ok"] in rows
    assert ["too", "slow", "9.00", "ms", "≤", "8.00", "short"] in rows
    assert ["no", "server", "–", "×", "≤", "1.15", "missing"] in rows
    assert ["by", "the", "way", "12,346", "reported"] in rows


def test_what_a_figure_stands_on_and_how_busy_the_machine_was_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    run(one=fake(GOOD))
    out = capsys.readouterr().out
    assert "quick enough: a story of two." in out
    assert "Load average" in out


def test_only_the_named_figure_is_taken() -> None:
    def never(rounds: int) -> list[Row]:
        raise AssertionError("this figure was not asked for")

    assert run("--only", "one", one=fake(GOOD), two=never) == 0


def test_an_unknown_name_is_answered_with_the_names_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--only", "three", one=fake(GOOD), two=fake(GOOD)) == 2
    assert capsys.readouterr().err == "No figure is called 'three'; there are one, two.\n"


def test_rounds_are_handed_to_the_figures() -> None:
    asked: list[int] = []

    def figure(rounds: int) -> list[Row]:
        asked.append(rounds)
        return [GOOD]

    run(one=figure)
    run("--rounds", "3", one=figure)
    assert asked == [ROUNDS, 3]


@pytest.mark.parametrize("word", ["0", "-1", "few"])
def test_a_number_of_rounds_that_is_none_is_refused(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        run("--rounds", word, one=fake(GOOD))
    assert refused.value.code == 2
    assert "number of rounds" in capsys.readouterr().err


def test_json_holds_all_that_the_table_shows(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--json", one=fake(GOOD, ABSENT)) == 1
    found: Any = json.loads(capsys.readouterr().out)
    assert [row["verdict"] for row in found["figures"]] == ["ok", "missing"]
    assert found["figures"][0]["spread"] == [2.5, 3.5]
    assert found["machine"].startswith("Load average")


def test_a_figure_that_takes_long_has_a_shorter_form_in_a_run_of_all() -> None:
    long, short = fake(SHORT), fake(GOOD)
    assert main([], {"leak": long}, {"leak": short}) == 0
    assert main(["--only", "leak"], {"leak": long}, {"leak": short}) == 1
    assert set(IN_ALL) <= set(FIGURES)


# -- statistics ------------------------------------------------------------------------------------------------


def recorded(calls: list[str], name: str) -> Callable[[], None]:
    return lambda: calls.append(name)


def test_every_round_runs_all_cases_and_begins_with_another_one() -> None:
    calls: list[str] = []
    common.interleave(4, lambda: 0.0, a=recorded(calls, "a"), b=recorded(calls, "b"), c=recorded(calls, "c"))
    rounds = ["".join(calls[n : n + 3]) for n in range(3, len(calls), 3)]
    assert rounds == ["abc", "bca", "cab", "abc"]


def test_the_round_that_warms_up_is_not_counted() -> None:
    calls: list[str] = []
    times = common.interleave(2, lambda: float(len(calls)), a=recorded(calls, "a"))
    assert (len(calls), times) == (3, {"a": [1.0, 1.0]})


def test_a_figure_is_the_median_and_shows_the_middle_half() -> None:
    row = common.summary("a", [5.0, 1.0, 2.0, 4.0, 100.0], unit="ms")
    assert (row.figure, row.spread, row.unit) == (4.0, (2.0, 5.0), "ms")


def test_one_round_alone_has_no_spread() -> None:
    assert common.summary("a", [5.0]).spread == (5.0, 5.0)


def test_ratios_are_taken_round_by_round() -> None:
    assert common.ratios([2.0, 9.0], [1.0, 3.0]) == [2.0, 3.0]


def test_the_collector_is_off_meanwhile_and_as_it_was_afterwards() -> None:
    assert gc.isenabled()
    with common.no_collector():
        assert not gc.isenabled()
    assert gc.isenabled()
