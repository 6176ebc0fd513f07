"""The questions as a deck of cards: an .apkg file for Anki, or a .csv file for whatever reads one.

A card is known by its question and its key («n2 w1»), never by its text: a deck that is built again after an edit and
imported again changes the cards that are there, and what Anki knows of your memory stays. So key points, wrong answers
and follow-ups are added at the end of their lists. Every field is escaped; there is nothing to load from anywhere.
"""

from __future__ import annotations

import csv
import hashlib
import io
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from ..drills.drill import Drill, spoken
from .schedule import ASKED

NAME = "Redis Lock Lab"
MODEL, DECK = 1_624_830_143, 1_624_830_144  # drawn once; another number would be another kind of note, another deck
FIELDS = ("Key", "Title", "Front", "Back")
FRONT = "<small>{{Title}}</small><p>{{Front}}</p>"
BACK = "{{FrontSide}}<hr id=answer>{{Back}}"
CSS = ".card { font-family: sans-serif; font-size: 18px; line-height: 1.45; max-width: 42em; margin: auto; }"


@dataclass(frozen=True)
class Card:
    """question and key say which card it is; front and back are HTML, title a plain text."""

    question: str
    key: str
    title: str
    front: str
    back: str

    @property
    def guid(self) -> str:
        """By what Anki knows it again."""
        return f"redis-lock-lab-{self.question}-{self.key}"

    @property
    def row(self) -> tuple[str, ...]:
        return (f"{self.question} {self.key}", escape(self.title), self.front, self.back)


def cards(drill: Drill) -> tuple[Card, ...]:
    """The cards of a question: itself with all its key points, each wrong answer, each follow-up."""
    rubric = drill.rubric
    points = "".join(f"<li>{escape(point)}</li>" for point in rubric.key_points)
    made = [("question", escape(" ".join(drill.question.split())), f"<ol>{points}</ol>")]
    made += [(f"w{n}", *_wrong(text)) for n, text in enumerate(rubric.wrong, 1)]
    made += [(f"f{n}", escape(each.asks), escape(each.answer)) for n, each in enumerate(rubric.follow_ups, 1)]
    return tuple(Card(drill.name, key, drill.title, front, back) for key, front, back in made)


def _wrong(text: str) -> tuple[str, str]:
    """«What many say»: why not. The first part is asked, the rest is the answer."""
    saying, colon, why = text.partition("»: ")
    if not colon:
        return f"Often said, and wrong. Why? {escape(text)}", escape(text)
    return f"What is wrong with it? {escape(saying)}»", escape(why[:1].upper() + why[1:])


def all_cards(questions: Sequence[str] = ASKED) -> tuple[Card, ...]:
    """The cards of these questions, of all without any. Raises ValueError for one that there is not."""
    return tuple(card for question in questions for card in cards(spoken(question)))


def write(path: Path, deck: Sequence[Card]) -> Path:
    """Writes the cards into `path`, .apkg or .csv, and returns it; a file that is there is replaced. Raises ValueError
    for another ending, before anything is written, and OSError where nothing can be written."""
    writers = {".apkg": _apkg, ".csv": _csv}
    if path.suffix.lower() not in writers:
        raise ValueError(f"{str(path)!r} is no deck: the name must end in .apkg, for Anki, or in .csv.")
    path.write_bytes(writers[path.suffix.lower()](deck))
    return path


def _csv(deck: Sequence[Card]) -> bytes:
    """The lines with # say to Anki what each column is; other programs skip or show them."""
    out = io.StringIO()
    heading = ["separator:Comma", "html:true", f"notetype:{NAME}", f"deck:{NAME}"]
    columns = ["guid column:1", "tags column:6", f"columns:guid,{','.join(FIELDS)},tags"]
    out.write("".join(f"#{line}\n" for line in [*heading, *columns]))
    rows = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL)
    rows.writerows((card.guid, *card.row, card.question) for card in deck)
    return out.getvalue().encode("utf-8")


def _apkg(deck: Sequence[Card]) -> bytes:
    import genanki  # loads slowly, and only a deck needs it

    templates = [{"name": "Card 1", "qfmt": FRONT, "afmt": BACK}]
    model = genanki.Model(MODEL, NAME, [{"name": field} for field in FIELDS], templates, CSS)
    pack = genanki.Deck(DECK, NAME)
    note = _note_class(genanki)
    for due, card in enumerate(deck):
        pack.add_note(note(model=model, fields=list(card.row), tags=[card.question], guid=card.guid, due=due))
    out = io.BytesIO()
    genanki.Package(pack).write_to_file(out)
    return out.getvalue()


def _note_class(genanki: Any) -> Any:
    """genanki numbers notes and cards by the time of the build; these keep their numbers."""

    class Kept(genanki.Note):  # type: ignore[misc]  # genanki has no types
        def write_to_db(self, cursor: Any, timestamp: float, deck_id: int, id_gen: Any) -> None:
            super().write_to_db(cursor, timestamp, deck_id, itertools.count(number(self.guid)))

    return Kept


def number(guid: str) -> int:
    """A number that stays: Anki reads it as a moment in milliseconds, so it lies in a past decade."""
    digest = hashlib.sha256(guid.encode()).digest()
    return 1_300_000_000_000 + 2 * (int.from_bytes(digest[:8], "big") % 100_000_000_000)
