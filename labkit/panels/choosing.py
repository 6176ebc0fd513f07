"""Six lists under the hand, and what `choose` makes of them: the scheme, the reason, the cells of the matrix.

Each move asks the rule anew; the panel remembers nothing. A saved notebook keeps the answers of the moment and one
sentence, without a kernel and without widgets.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

import ipywidgets as widgets

from ..choosing import QUESTIONS, SCHEMES, Choice, Question, Record, choose, decisive, recorded
from ..explore.report import COLOURS

CARD = "background:#fff;color:#1b1f24;border:1px solid #d0d7de;border-radius:6px;padding:8px 12px;line-height:1.45;"


class Chooser(widgets.VBox):  # type: ignore[misc]  # ipywidgets has no types
    """What `chooser` returns. `choice` is the one for the answers that are shown."""

    def __init__(self, answers: Mapping[str, str], record: Record) -> None:
        choose(answers)  # refuses what is no answer
        self.record, self.lists = record, {q.name: _list(q, answers[q.name]) for q in QUESTIONS}
        self._said = widgets.HTML()
        asked = [widgets.HTML(f'<span style="line-height:1.45">{escape(q.asks)}</span>') for q in QUESTIONS]
        pairs = zip(asked, self.lists.values(), strict=True)
        super().__init__([each for pair in pairs for each in pair] + [self._said])
        for one in self.lists.values():
            one.observe(self._moved, names="value")
        self._moved(None)

    @property
    def answers(self) -> dict[str, str]:
        """The answers as they stand."""
        return {name: one.value for name, one in self.lists.items()}

    @property
    def choice(self) -> Choice:
        return choose(self.answers)

    def set(self, **answers: str) -> Chooser:
        """Answers from code, as a hand would. Raises ValueError, before anything is set, for what is no answer."""
        choose(self.answers | answers)
        for name, value in answers.items():
            self.lists[name].value = value
        return self

    def _moved(self, change: Any) -> None:
        self._said.value = _shown(self.answers, self.record)

    def __repr__(self) -> str:
        given = ", ".join(f"{name} {value}" for name, value in self.answers.items())
        return f"Chooser ({given}): {self.choice.scheme}, {self.choice.says}."

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """The widget for a live notebook, and for a saved one its words."""
        bundle: Any = super()._repr_mimebundle_(**kwargs)
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        asked = "".join(f"<li>{escape(q.asks)} {_answer(q, self.answers[q.name])}</li>" for q in QUESTIONS)
        more = f"<p>{escape(repr(self))} Run this cell to answer for yourself.</p>"
        data.update({"text/plain": repr(self), "text/html": f"<ol>{asked}</ol>\n{self._said.value}\n{more}"})
        return bundle


def chooser(record: Record | None = None, **answers: str) -> Chooser:
    """The six questions as lists. answers: where the lists begin, by question; the first option without any. record:
    the safety matrix, the recorded one without any. Raises ValueError for a question or an answer that there is not."""
    first = {question.name: next(iter(question.options)) for question in QUESTIONS}
    return Chooser(first | answers, recorded() if record is None else record)


def _list(question: Any, value: str) -> Any:
    options = [(f"{name}: {says}", name) for name, says in question.options.items()]
    return widgets.Dropdown(options=options, value=value, layout={"width": "590px", "max_width": "100%"})


def _answer(question: Question, name: str) -> str:
    return f"<b>{escape(name)}</b>: {escape(question.options[name])}"


def _shown(answers: Mapping[str, str], record: Record) -> str:
    """The choice as a card."""
    choice, turned = choose(answers), decisive(answers)
    parts = [f"<b>{escape(choice.scheme)}: {escape(choice.says)}</b>", escape(choice.reason)]
    if choice.instead:
        head = "No lock." if SCHEMES[choice.scheme].kind == "no lock" else "No lock is enough."
        parts.append(f"<b>{head}</b> {escape(choice.instead)}")
    parts.append(f"Another answer here, alone, would change it: {', '.join(turned)}.")
    parts.append(escape(choice.heading))
    parts.append(" ".join(_cell(place, record) for place in choice.cells))
    return f'<div style="{CARD}">{"<br>".join(parts)}</div>'


def _cell(place: tuple[str, str], record: Record) -> str:
    """The letter of a cell; the pointer on it shows how to play it again."""
    cell = record.get(place)
    letter, colour = ("not recorded", COLOURS["?"]) if cell is None else (cell.verdict, COLOURS[cell.verdict])
    again = "" if cell is None else cell.replay or cell.bounds
    style = f"background:{colour};color:#000;padding:1px 6px;border-radius:4px;white-space:nowrap;"
    return f'<span style="{style}" title="{escape(again)}">{" ".join(place)} <b>{escape(letter)}</b></span>'
