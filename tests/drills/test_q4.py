"""Question 4's own stage: rounds in all orders, rivals that keep to the contract, and what a judge makes of a round."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.drills.q4.bench import Desk, Round, all_orders, pays, play
from labkit.drills.q4.cast import Cast
from labkit.drills.q4.checks import TRIALS
from labkit.drills.q4.look import deadlocked, differences, guard_of, written
from labkit.drills.q4.model import guarded, register
from labkit.drills.trial import Outcome, Run, Setting

SETTING = Setting("q4", "atomic check", "race", 7)
GUARD = {"stock": (4, "A")}


def looks_twice(db: Any) -> None:
    for _ in range(2):
        db.execute("SELECT token FROM guard").fetchall()


def test_every_round_begins_with_a_guard_of_its_own() -> None:
    def work(desk: Desk) -> None:
        desk.call(register, "stock", 9, "B")

    first, second = play(SETTING, [Round({}), Round(GUARD)], {"A": work})
    assert first["before"]["guard"] == []
    assert second["before"]["guard"] == [["stock", 4, "A"]]
    assert guard_of(first["after"], "stock") == guard_of(second["after"], "stock") == [9, "B"]


def test_two_workers_of_two_statements_are_played_in_all_six_orders() -> None:
    work = dict.fromkeys("AB", lambda desk: desk.call(looks_twice))
    found = ["".join(who for who, _, _ in this["log"]) for this in all_orders(SETTING, GUARD, work)]
    assert sorted(found) == ["AABB", "ABAB", "ABBA", "BAAB", "BABA", "BBAA"]


@pytest.mark.parametrize(("token", "rows", "held"), [(5, 1, [5, "B"]), (4, 0, [4, "A"]), (3, 0, [4, "A"])])
def test_a_rival_registers_over_a_lower_token_only(token: int, rows: int, held: list[Any]) -> None:
    (this,) = play(SETTING, [Round(GUARD)], {"B": lambda desk: desk.register("stock", token, "B")})
    assert (this["rivals"]["B"]["changed"], guard_of(this["after"], "stock")) == ([rows], held)


def test_what_statements_write_is_told_apart_from_what_is_there() -> None:
    statement = pays(SETTING.draw)
    work = {"A": lambda desk: desk.call(guarded, "stock", 4, "A", [statement])}
    (this,) = play(SETTING, [Round(GUARD)], work)
    assert differences(written(this["before"], [statement]), this["after"]) == ""
    assert differences(this["before"], this["after"]) == f"in orders (7, {statement[1][0]!r}), before (7, 'UNPAID')"


def test_a_round_in_which_a_deadlock_got_out_counts_for_nothing() -> None:
    facts, _ = TRIALS["atomic check"].play(guarded, SETTING)
    told = {"raised": "OperationalError", "message": "OperationalError: (1213, 'Deadlock found …'), at line 3"}
    for this in facts["rounds"]:
        this["calls"][0].update(told)
    assert all(map(deadlocked, facts["rounds"]))
    assert TRIALS["atomic check"].judge(Run(SETTING, facts)).outcome is Outcome.NOT_TESTED


def test_the_same_setting_plays_the_same() -> None:
    first, second = (TRIALS["atomic check"].play(guarded, SETTING) for _ in range(2))
    assert first == second


def test_a_later_grant_of_an_owner_is_above_whatever_has_passed() -> None:
    cast = Cast(SETTING.draw)
    token, owner = cast.later((5, "A"), (7, "B"))
    assert (token > 7, owner) == (True, "A")


def test_what_cannot_be_stored_raises_no_error_of_the_database() -> None:
    facts, _ = TRIALS["all or nothing"].play(guarded, Setting("q4", "all or nothing", "raises", 7))
    raised = [call["raised"] for call in facts["rounds"][0]["calls"]]
    assert raised[-1] == "OverflowError"
    assert set(raised[:-1]) == {"IntegrityError", "OperationalError", ""}
