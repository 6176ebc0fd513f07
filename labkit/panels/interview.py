"""The mock interview in a notebook: the same questions, ticks, follow-ups and proofs as `labkit interview`.

What is asked and what is noted is decided in `labkit.interview`; here are boxes and buttons for it. The clock does not
block the kernel (`timer`). A saved notebook keeps one sentence and no widget state.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from html import escape
from typing import Any

import ipywidgets as widgets

from .. import viz
from ..interview import AXES, RULE, Sitting, allowed, begin, history, prove, said, summarise, svg
from ..interview.proof import claim
from ..interview.words import CLEAR, GOT, LIMITS, minutes, nothing
from ..progress import Progress
from .panel import CARD
from .timer import Later, Timer, soon

WIDE = {"width": "700px", "max_width": "100%"}


class Interview(widgets.VBox):  # type: ignore[misc]  # ipywidgets has no types
    """What `interview` returns. `sitting` is the question under way, None before the first and after the last."""

    children: Any

    def __init__(self, sittings: Sequence[Sitting], clock: Callable[[], float], later: Later) -> None:
        super().__init__()
        self.sittings, self.at = tuple(sittings), 0
        self.sitting: Sitting | None = None
        self._clock, self._later = clock, later
        self._timer: Timer | None = None
        self.picture = widgets.HTML()
        if not sittings:
            self._show(_card(escape(nothing())), _past())
            return
        names = ", ".join(sitting.drill.name for sitting in sittings)
        head = f"A mock interview: {names}. For each answer {LIMITS}. The clock starts with the question."
        self._show(_card(escape(head)), self.button("Begin", self._ask), _past())

    def button(self, label: str, act: Callable[[], None]) -> Any:
        """A button; what goes wrong behind it is said in the panel, for nobody sees a callback's traceback. It acts
        while it is shown: the second click of two comes when the first has led on."""

        def pressed(_: Any) -> None:
            if not _shows(self, made):
                return
            try:
                act()
            except Exception as error:
                self.picture.value = _card(escape(f"That did not work: {type(error).__name__}: {error}")).value
                self.children = [*self.children, *([] if self.picture in self.children else [self.picture])]

        made = widgets.Button(description=label, layout={"width": "auto", "align_self": "flex-start"})
        made.on_click(pressed)
        return made

    def _show(self, *parts: Any) -> None:
        self.picture.value = ""
        self.children = parts

    # -- one question after the other

    def _ask(self) -> None:
        self.sitting = self.sittings[self.at]
        drill = self.sitting.drill
        head = f"Question {self.at + 1} of {len(self.sittings)} · {drill.name} · {drill.title}"
        question = _card(f"<b>{escape(head)}</b><br>{escape(drill.question)}")
        self._listen(question, f"of {LIMITS}", self.sitting.answered, self._score)

    def _listen(self, asked: Any, limits: str, take: Callable[[str, float], Sitting], then: Callable[[], None]) -> None:
        """A box for words, and a clock. The words are noted by `take`, whichever button ends it."""
        self.words = widgets.Textarea(placeholder="Write here, or say it aloud.", rows=7, layout=WIDE)
        timer = self._timer = Timer(self._clock, self._later, limits)

        def done() -> None:
            self.sitting = take(self.words.value, timer.stop())
            then()

        def leave() -> None:
            if self.words.value.strip():
                self.sitting = take(self.words.value, timer.stop())
            self._end()

        buttons = [self.button("I have answered", done), self.button("Leave the interview", leave)]
        self._show(asked, timer, self.words, widgets.HBox(buttons))

    def _score(self) -> None:
        now, rubric = self._now, self._now.drill.rubric
        how, most = "aloud" if now.spoken else "in writing", minutes(allowed(now.spoken))
        took = f"{minutes(now.seconds)} {how}; {most} were allowed."
        self.points = [self._claim("k", n, text) for n, text in enumerate(rubric.key_points, 1)]
        self.wrong = [self._claim("w", n, text) for n, text in enumerate(rubric.wrong, 1)]
        self.clear = _choice("How well could you be followed?", {f"{n} {word}": int(n) for n, word in CLEAR.items()})
        self._show(
            _card(f"{escape(took)}{self._said()}"),
            widgets.HTML("<b>Key points: tick what your answer had.</b>"),
            *[row for _, row in self.points],
            widgets.HTML("<b>Often said, and wrong: tick what you said.</b>"),
            *[row for _, row in self.wrong],
            self.clear,
            self.button("Scored", self._scored),
            self.picture,
        )

    def _said(self) -> str:
        """The learner's own words, if there are any."""
        words = self.words.value.strip()
        return f'<div style="white-space:pre-wrap;font-style:italic">{escape(words)}</div>' if words else ""

    def _claim(self, kind: str, number: int, text: str) -> tuple[Any, Any]:
        """A box to tick, the claim beside it, and a button for its runs, where there are any."""
        box = widgets.Checkbox(description=str(number), indent=False, layout={"width": "44px", "flex": "0 0 auto"})
        words = widgets.HTML(f'<div style="line-height:1.4">{escape(text)}</div>', layout={"width": "560px"})
        runs = claim(self._now.drill, kind, number)
        more = [self.button("Prove it", lambda: self._prove(runs))] if runs else []
        return box, widgets.HBox([box, words, *more])

    def _scored(self) -> None:
        if self.clear.value is None:
            self.picture.value = _card("Choose first how well you could be followed.").value
            return
        points, wrong = ([n for n, (box, _) in enumerate(rows, 1) if box.value] for rows in (self.points, self.wrong))
        self.sitting = replace(self._now.ticked(points, wrong), clear=self.clear.value)
        missed = ", ".join(map(str, self._now.missed)) or "nothing"
        asks = f"You missed {missed}. The interviewer goes on:<br><b>{escape(self._now.asks.asks)}</b>"
        self._listen(_card(asks), "", self._now.followed, self._settle)

    def _settle(self) -> None:
        """The follow-up's run and its printed answer, in the order that the learner likes."""
        self.answer = widgets.HTML()
        self.got = _choice("Had you answered it?", {word: word for word in GOT.values()})
        self._show(
            _card(f"{escape(self._now.asks.asks)}{self._said()}"),
            widgets.HBox([self.button("Prove it", self._proved), self.button("Show the answer", self._reveal)]),
            self.answer,
            self.picture,
        )

    def _proved(self) -> None:
        self.sitting = self._now.proven(after=bool(self.answer.value))
        self._prove(self._now.asks.proof)

    def _reveal(self) -> None:
        if not self.answer.value:
            self.answer.value = _card(escape(self._now.asks.answer)).value
            self.children = [*self.children, self.got, self.button("Next", self._next)]

    def _prove(self, runs: Sequence[str]) -> None:
        self.picture.value = "".join(map(_proof, runs))

    def _next(self) -> None:
        if self.got.value is None:
            self.got.description = "First: had you answered it?"
            return
        self.sitting = replace(self._now, got=self.got.value)
        self._close()
        self.at += 1
        self._ask() if self.at < len(self.sittings) else self._end()

    def _close(self) -> None:
        """Notes the question's review, once."""
        sitting, self.sitting = self.sitting, None
        if sitting is not None:
            sitting.note()

    def _end(self) -> None:
        if self._timer is not None:
            self._timer.stop()
        self._close()
        self._show(_summary(self.sittings[0].interview), _past())

    @property
    def _now(self) -> Sitting:
        if self.sitting is None:
            raise ValueError("No question is being asked.")
        return self.sitting

    def __repr__(self) -> str:
        names = ", ".join(sitting.drill.name for sitting in self.sittings)
        return f"A mock interview: {names}." if names else nothing()

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """The widget for a live notebook, and for a saved one its sentence."""
        bundle: Any = super()._repr_mimebundle_(**kwargs)
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        more = "Run this cell to be interviewed."
        data.update({"text/plain": f"{self!r} {more}", "text/html": f"<p>{escape(repr(self))} {more}</p>"})
        return bundle


def interview(
    *questions: str, number: int = 3, clock: Callable[[], float] = time.monotonic, later: Later = soon
) -> Interview:
    """A mock interview of these questions ("n1", "q3"), else of at most `number` that are due or new. clock: seconds
    that only go forward.  later: calls a function in so many seconds. Raises ValueError for a question that there is
    not."""
    return Interview(begin(questions, number), clock, later)


def _shows(box: Any, part: Any) -> bool:
    return any(child is part or _shows(child, part) for child in getattr(box, "children", ()))


def _card(words: str) -> Any:
    return widgets.HTML(f'<div style="{CARD}line-height:1.45;max-width:720px">{words}</div>')


def _choice(question: str, options: dict[str, Any]) -> Any:
    style = {"description_width": "initial", "button_width": "auto"}
    return widgets.ToggleButtons(description=question, options=options, index=None, style=style)


def _proof(run: str) -> str:
    proof = prove(run)
    return viz.html(proof.timeline, proof.broken)


def _summary(name: str) -> Any:
    """The four axes, and the rule."""
    reviews = [each for each in Progress.open().record().reviews if each.interview == name]
    if not reviews:
        return _card("No answer was scored, so there is no summary.")
    levels = summarise(reviews).levels
    rows = "".join(
        f"<tr><td>{axis}</td><td>{'■' * (levels[axis] or 0)}</td><td>{said(levels[axis])}</td></tr>" for axis in AXES
    )
    rule = f"<details><summary>How this is computed</summary>{escape(RULE).replace(chr(10), '<br>')}</details>"
    return _card(f"<b>Summary</b><table>{rows}</table>{rule}")


def _past() -> Any:
    past = history(Progress.open().record().reviews)
    return widgets.HTML(svg(past) if past else "")
