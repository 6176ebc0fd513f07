"""The errata of section seven and of the questions three, four, five and seven: each breaks as said, and holds when it
is repaired."""

from __future__ import annotations

import sqlite3

import pytest

from labkit import replay
from labkit.errata import Erratum, practice, q3, q4, q5, q7

PARTS = (practice, q3, q4, q5, q7)
ERRATA: dict[str, Erratum] = {erratum.number: erratum for part in PARTS for erratum in part.ERRATA}
NUMBERS = [f"E{n}" for n in (*range(50, 55), 72, 73, 74, *range(76, 81), *range(82, 88), *range(95, 103))]
NOT_RUN = ["E74", "E102"]
RUN = [number for number in NUMBERS if number not in NOT_RUN]


def test_each_number_of_this_part_is_there_once() -> None:
    assert [erratum.number for part in PARTS for erratum in part.ERRATA] == NUMBERS


def test_all_are_run_but_two_that_say_why_not() -> None:
    assert [n for n, erratum in ERRATA.items() if erratum.wrong is None or erratum.right is None] == NOT_RUN
    assert all(ERRATA[n].source.startswith("Not ") for n in NOT_RUN)


@pytest.mark.parametrize("number", RUN)
def test_what_the_article_says_breaks(number: str) -> None:
    wrong = ERRATA[number].wrong
    assert wrong is not None
    assert wrong().holds is False


@pytest.mark.parametrize("number", RUN)
def test_the_repair_holds(number: str) -> None:
    right = ERRATA[number].right
    assert right is not None
    assert right().holds is True


@pytest.mark.parametrize("number", RUN)
def test_a_run_says_the_same_again(number: str) -> None:
    for run in (ERRATA[number].wrong, ERRATA[number].right):
        assert run is not None
        shown = run()
        assert run() == shown
        assert shown.why.endswith(".")
        assert not shown.again or replay(shown.again).token == shown.again


@pytest.mark.parametrize("number", NUMBERS)
def test_claim_and_truth_are_short(number: str) -> None:
    assert len(ERRATA[number].claim) <= 200
    assert len(ERRATA[number].truth) <= 200


@pytest.mark.parametrize(("cpu", "wall"), [(10, 10), (11, 101), (100, 910), (2000, 19_910)])
def test_e86_a_quota_stretches_what_runs(cpu: int, wall: int) -> None:
    assert q5.wall(cpu) == wall


@pytest.mark.parametrize(("begins", "lost"), [(10_100, False), (15_000, False), (19_990, True)])
def test_e86_a_collection_costs_the_lease_only_if_it_begins_just_before_a_renewal(begins: int, lost: bool) -> None:
    assert bool(q5.stood_still([(begins, q5.wall(2000))]).find("lost", "A")) is lost


def test_e86_throttles_would_cost_the_lease_if_their_period_were_longer_than_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(q5, "PERIOD", q5.TTL + q5.INTERVAL)
    assert q5.quota_used_up().holds is True


def test_the_tables_of_question_three_are_plain_sqlite() -> None:
    db = q3.tasks()
    assert isinstance(db, sqlite3.Connection)
    assert (q3.claim(db, "A"), q3.claim(db, "B")) == (True, False)
