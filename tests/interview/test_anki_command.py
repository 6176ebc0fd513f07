"""`labkit anki` writes the deck and says how many cards it has."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from labkit.cli import app
from labkit.interview import all_cards


def anki(*arguments: object):
    return CliRunner().invoke(app, ["anki", *map(str, arguments)])


@pytest.mark.parametrize("name", ["deck.apkg", "deck.csv", "DECK.CSV"])
def test_it_writes_all_cards(tmp_path: Path, name: str) -> None:
    done = anki(tmp_path / name)
    assert done.exit_code == 0 and f"{len(all_cards())} cards written" in done.stdout
    assert (tmp_path / name).stat().st_size > 0


def test_it_writes_the_cards_of_some_questions(tmp_path: Path) -> None:
    anki(tmp_path / "deck.csv", "n3")
    assert "n3-w1" in (tmp_path / "deck.csv").read_text("utf-8") and "n2-" not in (tmp_path / "deck.csv").read_text(
        "utf-8"
    )


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["deck.txt"], "the name must end in .apkg"),
        (["deck.apkg", "n9"], "No question is called 'n9'"),
        (["nowhere/deck.apkg"], "nowhere/deck.apkg"),
    ],
)
def test_what_cannot_be_written_is_said(tmp_path, monkeypatch, arguments: list[str], says: str) -> None:
    monkeypatch.chdir(tmp_path)
    done = anki(*arguments)
    assert done.exit_code == 2 and says in done.stderr and list(tmp_path.iterdir()) == []
