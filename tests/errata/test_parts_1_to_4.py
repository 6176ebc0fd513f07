"""Sections one to four: each erratum that runs is broken as the article has it, and holds when repaired."""

from __future__ import annotations

from typing import Any

import pytest

from labkit import play, replay
from labkit.errata import ERRATA, Erratum, basics, fencing, renewal
from labkit.errata.telling import fences
from labkit.stories.pricing import prices

MINE = [*basics.ERRATA, *renewal.ERRATA, *fencing.ERRATA]
PLAYED = [erratum for erratum in MINE if erratum.wrong is not None]
RUN = "E02 E03 E04 E05 E07 E10 E11 E13 E15 E16 E20 E21 E22 E23 E24 E25 E26 E27 E28 E29".split()
TOLD = "E01 E06 E12 E14 E17".split()


def by_number(errata: list[Erratum]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("erratum", errata, ids=[erratum.number for erratum in errata])


def test_these_are_run_and_those_are_told() -> None:
    assert [erratum.number for erratum in PLAYED] == RUN
    assert [erratum.number for erratum in MINE if erratum.wrong is None] == TOLD
    assert all(ERRATA[erratum.number] is erratum for erratum in MINE)


@by_number(PLAYED)
def test_what_the_article_says_breaks(erratum: Erratum) -> None:
    assert erratum.wrong is not None
    assert erratum.wrong().holds is False


@by_number(PLAYED)
def test_the_repair_holds_under_the_same_mishap(erratum: Erratum) -> None:
    assert erratum.right is not None
    assert erratum.right().holds is True


@by_number(PLAYED)
def test_a_run_shows_the_same_each_time(erratum: Erratum) -> None:
    assert erratum.wrong is not None
    assert erratum.wrong() == erratum.wrong()


@by_number(PLAYED)
def test_the_string_of_a_run_plays_it_again(erratum: Erratum) -> None:
    for run in (erratum.wrong, erratum.right):
        assert run is not None
        if token := run().again:
            assert replay(token).token == token


# -- what the stories of these parts show besides ----------------------------------------------------------------------


def evicted(**params: Any) -> list[str]:
    return [event.name for event in play("full-memory", **params).find("evict")]


def test_a_full_memory_throws_away_what_expires_soonest() -> None:
    assert evicted()[0] == "stock"
    assert set(evicted(cache="apart")) == {"page:0", "page:1", "page:2"}


def test_a_renewal_of_the_wrong_type_is_told_so_and_nobody_else_is() -> None:
    told = {event.name for event in play("wrong-type").find("note")}
    assert told == {"A's renewal is told: WRONGTYPE", "A learns it at its release: expired"}


def test_the_script_that_fits_keeps_the_lock_to_the_end_of_the_work() -> None:
    start = next(belief.start for belief in play("wrong-type", script="string").belief() if belief.node == "B")
    assert start > 14.0


def test_an_idempotent_store_executes_each_of_four_requests_that_are_two_once() -> None:
    timeline = play("late-price")
    assert len([event for event in timeline.find("apply", "shop") if event.name.startswith("EVAL write")]) == 4
    assert prices(timeline) == ["20", "10"]


def test_in_order_an_idempotent_store_is_right() -> None:
    assert prices(play("late-price", by=0.0)) == ["10", "20"]


def test_a_store_that_compares_owners_too_refuses_a_repeated_token() -> None:
    assert fences(play("repeated-token")) == "The tokens: A got 7, B got 7, B got 8."


def test_an_idempotent_store_takes_a_second_request_of_the_same_holder() -> None:
    assert prices(play("two-steps", store="idempotent")) == ["10", "20", "30"]
