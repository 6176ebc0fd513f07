"""`labkit errata`: what it prints, how wide, and the exit status it leaves with."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from typer.testing import CliRunner

from labkit import errata, replay
from labkit.cli import app
from labkit.errata import ERRATA, Shown
from labkit.errata.erratum import GRADES


def labkit(*arguments: str, columns: int = 80) -> Any:
    env = {"COLUMNS": str(columns)}
    return CliRunner().invoke(app, ["errata", *arguments], prog_name="labkit", env=env)


def planted(monkeypatch: pytest.MonkeyPatch, number: str, **changes: Any) -> None:
    monkeypatch.setattr(errata, "ERRATA", ERRATA | {number: replace(ERRATA[number], **changes)})


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only these four, of the grades 1, 2, 3 and 1."""
    monkeypatch.setattr(errata, "ERRATA", {number: ERRATA[number] for number in ("E01", "E03", "E04", "E25")})


def test_the_list_has_a_line_for_each_erratum_and_says_what_its_signs_mean(few: None) -> None:
    result = labkit()
    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert [line[:15].split() for line in lines[:4]] == [
        ["E01", "★", "––"], ["E03", "★★", "✗✓"], ["E04", "★★★", "✗✓"], ["E25", "★", "✗✓"],
    ]  # fmt: skip
    assert lines[2] == "E04   ★★★  ✗✓  The value of the lock is the client's id."
    assert lines[5:8] == [f"{'★' * grade:<5}{GRADES[grade]}" for grade in (3, 2, 1)]
    assert lines[8].startswith("✗✓   the article's way broke the claim")
    assert lines[-1] == "4 errata, 3 of them run: each breaks as said, and holds when repaired."


def test_a_claim_too_long_for_its_line_is_cut_with_a_sign(few: None) -> None:
    assert labkit(columns=50).stdout.splitlines()[2] == "E04   ★★★  ✗✓  The value of the lock is the …"


def test_one_erratum_is_told_in_the_singular() -> None:
    assert labkit("E22").stdout.endswith("\n1 erratum, run: it breaks as said, and holds when repaired.\n")
    assert labkit("E01").stdout.endswith("\n1 erratum, not run: its source is told instead.\n")


def test_every_erratum_has_a_block_and_the_end_sums_up(few: None) -> None:
    result = labkit("--all")
    assert (result.exit_code, result.stderr) == (0, "")
    blocks = result.stdout.split("\n\n")
    assert [block.split()[0] for block in blocks[:-1]] == ["E01", "E03", "E04", "E25"]
    assert blocks[-1] == "4 errata, 3 of them run: each breaks as said, and holds when repaired.\n"


def test_a_block_has_the_claim_what_the_runs_show_and_where(few: None) -> None:
    block = labkit("--all").stdout.split("\n\n")[2].splitlines()
    assert [line for line in block if line[:4] in ("E04 ", "says", "run ")] == [
        "E04       ★★★  section 2.2, 4.3, 5.2, of the article",
        "says      The value of the lock is the client's id.",
        "run       ✗ A's release at t = 12.002 s deleted the lock stock that A/T2 held",
    ]
    assert [line[:10].strip() for line in block if line[0] != " "] == ["E04", "says", "is", "run", "repaired", "where"]


def test_of_one_that_is_not_run_the_source_is_told(few: None) -> None:
    block = labkit("--all").stdout.split("\n\n")[0]
    assert "\nsource    Not a question for a run" in block
    assert "\nrun" not in block


@pytest.mark.parametrize("columns", [80, 100])
def test_no_line_is_wider_than_the_terminal(few: None, columns: int) -> None:
    widest = max(map(len, labkit("--all", columns=columns).stdout.splitlines()))
    assert columns - 20 < widest <= columns


def test_no_line_ends_with_a_space(few: None) -> None:
    assert [line for line in labkit("E04", "E01").stdout.splitlines() if line != line.rstrip()] == []


def test_a_number_is_shown_in_full_with_strings_that_play_its_runs_again() -> None:
    told = labkit("e04").stdout
    assert "\nis        It is drawn anew for each acquisition" in told
    calls = [line.split("#  ")[0] for line in told.splitlines() if line.startswith("  labkit.replay(")]
    strings = [call.split("'")[1] for call in calls]
    assert strings == ["shared-id #0", "shared-id lock=safe #0"]
    assert [replay(string).token for string in strings] == strings
    assert "labkit.viz.save(labkit.replay('shared-id #0'), 'e04.svg')" in told


def test_a_string_is_not_wrapped() -> None:
    told = labkit("E16", columns=40).stdout
    assert "labkit.replay('renewal-pause lock=labkit.errata.renewal:SilentWatchdog #0')" in told


def test_a_run_without_a_story_offers_no_picture() -> None:
    result = labkit("E24")
    assert result.exit_code == 0
    assert "replay" not in result.stdout


def test_the_numbers_come_in_the_order_in_which_they_were_asked_for() -> None:
    heads = [line.split()[0] for line in labkit("E25", "E04").stdout.splitlines() if "section" in line]
    assert heads == ["E25", "E04"]


@pytest.mark.parametrize(("grade", "shown"), [("1", "E01 E03 E04 E25"), ("2", "E03 E04"), ("3", "E04")])
def test_a_grade_leaves_out_what_is_less_grave(few: None, grade: str, shown: str) -> None:
    told = json.loads(labkit("--grade", grade, "--json").stdout)
    assert [row["number"] for row in told] == shown.split()


def test_json_holds_all_that_is_known(few: None) -> None:
    result = labkit("E04", "E01", "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    run, told = json.loads(result.stdout)
    assert set(run) == {
        *("number", "grade", "section", "claim", "truth", "where", "source", "wrong", "right", "as_it_should_be"),
    }
    assert (run["wrong"]["holds"], run["right"]["holds"], run["as_it_should_be"]) == (False, True, True)
    assert run["wrong"]["again"] == "shared-id #0"
    assert (told["wrong"], told["right"], told["as_it_should_be"]) == (None, None, True)


@pytest.mark.parametrize("said", [True, None])
def test_an_article_that_is_right_after_all_ends_with_1(monkeypatch: pytest.MonkeyPatch, said: bool | None) -> None:
    planted(monkeypatch, "E04", wrong=lambda: Shown(said, "It holds."))
    result = labkit("E04")
    assert result.exit_code == 1
    assert result.stdout.endswith("E04 not as it should be, the article's way broken and the repair sound.\n")


@pytest.mark.parametrize("said", [False, None])
def test_a_repair_that_does_not_hold_ends_with_1(monkeypatch: pytest.MonkeyPatch, said: bool | None) -> None:
    planted(monkeypatch, "E04", right=lambda: Shown(said, "It breaks."))
    result = labkit("E04", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)[0]["as_it_should_be"] is False


def test_a_number_that_is_none_ends_with_2_before_anything_runs() -> None:
    result = labkit("E04", "E999")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "No erratum is called 'E999'; there are E01" in result.stderr


@pytest.mark.parametrize("grade", ["0", "4", "★"])
def test_a_grade_that_is_none_ends_with_2(grade: str) -> None:
    assert labkit("--grade", grade).exit_code == 2


def test_it_explains_itself() -> None:
    result = labkit("--help")
    assert result.exit_code == 0
    assert "Usage: labkit errata [OPTIONS] [numbers]" in result.stdout
