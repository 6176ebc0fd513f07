"""Every combination of answers has a choice, and no choice goes against the recorded safety matrix."""

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from labkit.choosing import (
    QUESTIONS,
    SCHEMES,
    asked,
    choose,
    combinations,
    compared,
    comparison,
    decisive,
    matters,
    recorded,
    rules,
    table,
    turns,
)
from labkit.choosing.schemes import Scheme
from labkit.cli import app
from labkit.explore.matrix import COLUMNS, ROWS

ANSWERS = list(combinations())
RECORD = recorded()
PLAIN = {q.name: next(iter(q.options)) for q in QUESTIONS}


def answers(**some: str) -> dict[str, str]:
    return PLAIN | some


def against_the_matrix(scheme: Scheme, given: Mapping[str, str]) -> list[tuple[str, str]]:
    """The recorded cells of a scheme that have a U, or nothing certain, in a column that these answers make matter."""
    places = [(row, column) for row in scheme.rows for column in matters(given)]
    return [place for place in places if place in RECORD and RECORD[place].verdict not in "SD–"]


# -- all there is to answer


def test_six_questions_are_asked_and_each_has_a_choice_to_make() -> None:
    assert len(QUESTIONS) == 6 and all(len(question.options) > 1 for question in QUESTIONS)


def test_the_combinations_are_all_there_are() -> None:
    distinct = {tuple(given.values()) for given in ANSWERS}
    count = 1
    for question in QUESTIONS:
        count *= len(question.options)
    assert len(ANSWERS) == len(distinct) == count


def test_every_combination_of_answers_gives_a_scheme_a_sentence_and_cells() -> None:
    for given in ANSWERS:
        choice = choose(given)
        assert choice.scheme in SCHEMES and choice.reason.endswith(".") and choice.cells, given


def test_every_scheme_is_the_answer_to_something() -> None:
    assert {choose(given).scheme for given in ANSWERS} == set(SCHEMES)


def test_every_question_decides_something() -> None:
    assert {name for given in ANSWERS for name in decisive(given)} == {question.name for question in QUESTIONS}


def test_what_one_statement_can_do_never_takes_a_lock() -> None:
    assert {choose(given).scheme for given in ANSWERS if given["place"] == "statement"} == {"statement"}


def test_where_no_lock_is_the_answer_it_says_what_is() -> None:
    instead = {given["place"] for given in ANSWERS if given["harm"] == "data" and choose(given).instead}
    assert instead == {"statement", "database", "store", "key", "nothing"}


def test_data_that_nothing_checks_are_never_entrusted_to_a_lock() -> None:
    bare = [choose(given) for given in ANSWERS if given["harm"] == "data" and given["place"] == "nothing"]
    assert {choice.scheme for choice in bare} == {"gate"}


def test_the_newest_has_the_say_only_where_numbers_are_compared() -> None:
    needs = [given for given in ANSWERS if given["harm"] == "data" and given["place"] == "store"]
    told = {
        given["newest"]: {choose(one).scheme for one in needs if one["newest"] == given["newest"]} for given in needs
    }
    assert told == {"no": {"check-and-set"}, "yes": {"fenced", "fenced-queue"}}


# -- the matrix agrees


def test_no_choice_breaks_in_a_column_that_its_answers_make_matter() -> None:
    for given in ANSWERS:
        scheme = SCHEMES[choose(given).scheme]
        assert against_the_matrix(scheme, given) == [], (scheme.name, given)


@pytest.mark.parametrize("row", ["R1", "R2", "R3", "R4", "R5", "R6a", "R7"])
def test_a_lock_without_a_checking_store_would_be_found_out_where_data_are_at_stake(row: str) -> None:
    wrong = replace(SCHEMES["redis"], rows=(row,))
    assert all(against_the_matrix(wrong, given) for given in ANSWERS if given["harm"] == "data")


@pytest.mark.parametrize("row", ["R1", "R2"])
def test_a_lock_that_sticks_or_is_deleted_by_others_would_be_found_out_even_for_work(row: str) -> None:
    wrong = replace(SCHEMES["redis"], rows=(row,))
    assert all(against_the_matrix(wrong, given) for given in ANSWERS if given["harm"] == "work")


def test_where_no_lock_is_the_answer_the_lock_that_it_spares_breaks() -> None:
    for given in ANSWERS:
        choice = choose(given)
        if choice.spares:
            cells = [RECORD[place] for place in choice.cells if place in RECORD]
            assert not cells or "U" in {cell.verdict for cell in cells}, given


def test_cells_with_a_u_are_only_those_of_a_lock_that_is_spared() -> None:
    for given in ANSWERS:
        choice = choose(given)
        letters = {RECORD[place].verdict for place in choice.cells if place in RECORD}
        assert bool(choice.spares) == ("U" in letters or not SCHEMES[choice.scheme].rows), given


def test_a_question_that_changes_neither_scheme_nor_reason_turns_nothing() -> None:
    at_one_statement = {question.name: turns({"place": "statement"}, question.name) for question in QUESTIONS[2:]}
    assert at_one_statement == {"newest": False, "length": False, "waiting": True, "service": False}
    assert all(turns({}, question.name) for question in QUESTIONS)


def test_the_rows_that_schemes_name_are_rows_of_the_matrix() -> None:
    assert {row for scheme in SCHEMES.values() for row in scheme.rows} <= set(ROWS)


def test_the_cells_are_those_of_the_scheme_in_the_columns_that_matter() -> None:
    given = answers(harm="data", place="store", newest="yes")
    assert choose(given).cells == tuple(("R6b", column) for column in rules.DATA)


def test_an_effect_outside_makes_the_last_column_matter() -> None:
    columns = {place: matters(answers(harm="data", place=place))[-1] for place in ("store", "key", "nothing")}
    assert columns == {"store": "F9", "key": "F10", "nothing": "F10"}


def test_only_columns_of_the_matrix_matter() -> None:
    assert {column for given in ANSWERS for column in matters(given)} == set(COLUMNS)


def test_the_table_of_the_questions_has_every_answer() -> None:
    page = asked()
    assert all(f"`{name}`: {says}" in page for question in QUESTIONS for name, says in question.options.items())
    assert [line.split("`")[1] for line in page.splitlines()[2:]] == [question.name for question in QUESTIONS]


# -- what it refuses


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({}, "Open: What does it cost if two do it at once? Answer harm with work or data."),
        (PLAIN | {"harm": "some"}, "harm='some' is no answer"),
        (PLAIN | {"hurm": "data"}, "There is no question 'hurm'; the six are harm, place"),
    ],
)
def test_what_is_no_answer_is_refused_with_the_answers_there_are(given: dict[str, str], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence.replace("?", r"\?")):
        choose(given)


# -- the record, and the table beside it


def test_the_record_is_what_the_file_says(tmp_path: Path) -> None:
    cell: dict[str, Any] = {"row": "R3", "column": "F2", "verdict": "S"}
    (tmp_path / "matrix.json").write_text(json.dumps([cell]), encoding="utf-8")
    assert recorded(tmp_path / "matrix.json")["R3", "F2"].verdict == "S"


def test_without_the_file_nothing_is_recorded(tmp_path: Path) -> None:
    assert recorded(tmp_path / "none.json") == {}


def test_the_letters_of_the_table_are_those_of_the_record() -> None:
    changed = dict(RECORD) | {("R3", "F2"): replace(RECORD["R3", "F2"], verdict="S")}
    assert "**U** R3 F2](../docs/matrix.md) (pause)" in table(RECORD)
    assert "**S** R3 F2](../docs/matrix.md) |" in table(changed)


def test_a_cell_that_is_not_recorded_is_said_to_be() -> None:
    assert table({}).count("not recorded") == sum(len(row.places) for row in compared)


def test_every_place_of_the_table_is_a_cell_of_the_matrix() -> None:
    places = [place.split() for row in compared for place in row.places.values()]
    assert all(row in ROWS and column in COLUMNS for row, column in places)


def test_whatever_no_run_settles_names_whose_word_it_is() -> None:
    assert all(row.word for row in compared if set(row.places) != set(comparison.COLUMNS))


# -- in a shell


def told(*arguments: str, typed: str = "") -> Any:
    return CliRunner().invoke(app, ["choose", *arguments], input=typed)


def test_the_command_asks_for_what_is_not_given_and_names_the_scheme() -> None:
    result = told("harm=data", "place=store", "newest=yes", typed="queue\nredis\n")
    assert result.exit_code == 0 and "fenced: a fenced lock" in result.stdout
    assert RECORD["R6b", "F2"].replay in result.stdout and "What do the others do meanwhile?" in result.stderr


def test_the_command_does_not_ask_what_can_change_nothing() -> None:
    result = told("place=statement", typed="queue\n")
    assert result.exit_code == 0 and "statement: one conditional statement" in result.stdout
    assert [question.name for question in QUESTIONS if question.asks in result.stderr] == ["waiting"]


def test_the_command_takes_no_answer_for_granted_and_asks_until_it_has_one() -> None:
    result = told("harm=data", "newest=no", "length=short", "waiting=leave", "service=redis", typed="\nshop\nkey\n")
    assert result.exit_code == 0 and "key: an idempotency key" in result.stdout
    assert "Answer with statement or database or store or key or nothing." in result.stderr


def test_the_command_gives_a_program_the_choice() -> None:
    given = answers(harm="data", place="key")
    result = told("--json", *(f"{name}={value}" for name, value in given.items()))
    choice = choose(given)
    assert json.loads(result.stdout) | {"cells": ()} == asdict(choice) | {"cells": ()}


def test_the_command_refuses_what_is_no_answer() -> None:
    result = told("harm=some")
    assert result.exit_code == 2 and "harm='some' is no answer" in result.stderr and "Where is" not in result.stderr


def test_cells_that_speak_against_a_lock_are_headed_so() -> None:
    every = PLAIN | {"place": "statement"}
    result = told(*(f"{name}={value}" for name, value in every.items()))
    assert "Why no lock: what the safety matrix says of R3 (SET NX PX; compare and delete):" in result.stdout
    assert "F2           U" in result.stdout
