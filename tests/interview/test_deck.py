"""The deck: each card is known by its question and key, whatever its text is."""

import csv
import sqlite3
import zipfile
from dataclasses import replace
from html import escape
from pathlib import Path

import pytest

from labkit.drills.drill import FollowUp, Rubric, spoken
from labkit.interview import all_cards, cards, write
from labkit.interview.schedule import ASKED


def rows(deck: Path, tmp_path: Path, what: str) -> list[tuple[object, ...]]:
    """What Anki finds in an .apkg file."""
    zipfile.ZipFile(deck).extract("collection.anki2", tmp_path)
    found = sqlite3.connect(tmp_path / "collection.anki2")
    try:
        return found.execute(what).fetchall()
    finally:
        found.close()


IDS = "SELECT notes.guid, notes.id, notes.mid, cards.id, cards.did FROM notes JOIN cards ON nid = notes.id ORDER BY 1"


def edited(deck):
    return [replace(card, back=f"{card.back} Edited.") if card.key == "w1" else card for card in deck]


def test_a_deck_that_is_built_again_after_an_edit_keeps_its_ids(tmp_path):
    first, second = write(tmp_path / "one.apkg", all_cards()), write(tmp_path / "two.apkg", edited(all_cards()))
    assert rows(first, tmp_path, IDS) == rows(second, tmp_path, IDS)
    texts = "SELECT guid, flds FROM notes"
    changed = set(rows(first, tmp_path, texts)) ^ set(rows(second, tmp_path, texts))
    assert {str(guid) for guid, _ in changed} == {f"redis-lock-lab-{name}-w1" for name in ASKED}


def test_a_card_that_is_added_moves_no_other(tmp_path):
    some, all_ = write(tmp_path / "one.apkg", all_cards(["n2"])), write(tmp_path / "two.apkg", all_cards())
    assert set(rows(some, tmp_path, IDS)) < set(rows(all_, tmp_path, IDS))


def test_a_newer_deck_says_that_it_is_newer(tmp_path, monkeypatch):
    """Anki takes over only what is newer than what it has."""
    times = []
    for now in (1_800_000_000.0, 1_800_000_060.0):
        monkeypatch.setattr("time.time", lambda now=now: now)
        deck = write(tmp_path / "deck.apkg", all_cards(["n1"]))
        times.append(rows(deck, tmp_path, "SELECT DISTINCT mod FROM notes"))
    assert times == [[(1_800_000_000,)], [(1_800_000_060,)]]


def test_no_two_cards_are_one(tmp_path):
    deck = rows(write(tmp_path / "deck.apkg", all_cards()), tmp_path, IDS)
    for column in (0, 1, 3):
        assert len({row[column] for row in deck}) == len(all_cards())


def test_a_question_gives_a_card_for_itself_for_each_wrong_answer_and_each_follow_up():
    drill = spoken("n1")
    assert [card.key for card in cards(drill)] == ["question", "w1", "w2", "w3", "f1", "f2"]
    assert cards(drill)[0].back.count("<li>") == len(drill.rubric.key_points)
    assert escape(drill.rubric.key_points[-1]) in cards(drill)[0].back


@pytest.mark.parametrize("name", ASKED)
def test_no_card_is_without_a_front_or_a_back(name):
    assert all(card.front and card.back for card in cards(spoken(name)))


def test_what_many_say_is_asked_and_not_answered_on_the_front():
    card = cards(spoken("n2"))[1]
    assert card.front == "What is wrong with it? «Send SET NX until it says OK»"
    assert card.back.startswith("The second is refused by your own key")


def test_fields_are_escaped(tmp_path):
    hostile = Rubric(("a < b & c",), ("«<b>x</b>»: <script>",), (FollowUp('"quoted"', "failover", "<img src=x>"),))
    deck = cards(replace(spoken("n1"), title="<i>", question="1 < 2", rubric=hostile))
    fields = [field for card in deck for field in card.row]
    assert not [field for field in fields if "<" in field.replace("<ol><li>", "").replace("</li></ol>", "")]
    assert "&lt;script&gt;" in deck[1].back and "a &lt; b &amp; c" in deck[0].back
    write(tmp_path / "deck.apkg", deck)  # genanki warns of what is no HTML, and a warning fails


def test_nothing_has_to_be_loaded_from_anywhere():
    assert not [card for card in all_cards() if "src=" in card.front + card.back or "http" in card.front + card.back]


def test_the_csv_has_the_same_cards_and_says_what_its_columns_are(tmp_path):
    lines = write(tmp_path / "deck.csv", all_cards()).read_text("utf-8").splitlines()
    head = [line for line in lines if line.startswith("#")]
    assert {"#separator:Comma", "#html:true", "#guid column:1", "#tags column:6"} <= set(head)
    body = list(csv.reader(lines[len(head) :]))
    assert [row[0] for row in body] == [card.guid for card in all_cards()]
    assert [tuple(row[1:5]) for row in body] == [card.row for card in all_cards()]


@pytest.mark.parametrize("name", ["deck.txt", "deck", ".apkg", "deck.apkg.zip"])
def test_a_name_that_is_no_deck_is_refused_and_nothing_is_written(tmp_path, name):
    with pytest.raises(ValueError, match=r"the name must end in \.apkg, for Anki, or in \.csv"):
        write(tmp_path / name, all_cards(["n1"]))
    assert not (tmp_path / name).exists()
