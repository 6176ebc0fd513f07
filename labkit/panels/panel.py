"""A story under sliders: each move plays it anew and redraws one picture and one list of verdicts.

The picture is an image whose address is replaced, not the captured output of a cell, so that moves cannot pile up. A
saved notebook keeps the picture of the moment and one sentence, without a kernel and without widgets. Whatever can be
refused is refused before anything runs; a move whose run fails says so in the panel, for nobody sees a callback's
traceback. It remembers nothing of earlier moves.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

import ipywidgets as widgets

from .. import viz
from ..checks import Judgement, judge
from ..stories import find, play
from ..story import Param, Story
from ..timeline import Timeline
from ..verdict import Verdict

DEFAULT_CHECKS = ("exclusive_grants", "one_believer", "own_release", "not_stuck")
CARD = "background:#fff;color:#1b1f24;border:1px solid #d0d7de;border-radius:6px;padding:8px 12px;margin:0;"
LIST = CARD + "line-height:1.45;list-style:none;"
MARKS = {True: "✓ holds", False: "✗ BROKEN", None: "? unknown"}


class Panel(widgets.VBox):  # type: ignore[misc]  # ipywidgets has no types
    """What `panel` returns. `timeline` and `judgement` are those of the run that is shown."""

    def __init__(self, story: Story, knobs: dict[str, Any], fixed: dict[str, Any], checks: tuple[str, ...]) -> None:
        self.story, self.knobs, self.fixed, self.checks = story, knobs, fixed, checks
        self.timeline, self.judgement = Timeline(()), Judgement((), "")
        self._picture, self._words, self._still = widgets.HTML(), widgets.HTML(), False
        heading = widgets.HTML(f'<b style="line-height:1.45">{escape(story.claim)}</b>')
        super().__init__([heading, *knobs.values(), self._picture, self._words])
        for knob in knobs.values():
            knob.observe(self._moved, names="value")
        self.refresh()

    @property
    def values(self) -> dict[str, Any]:
        """The parameters as they stand."""
        return self.fixed | {name: knob.value for name, knob in self.knobs.items()}

    def set(self, **values: Any) -> Panel:
        """Turns knobs from code, as a hand would, and redraws once. Raises ValueError, before anything is turned, for a
        name that is no knob of this panel and for a value that the story refuses."""
        for name in values:
            if name not in self.knobs:
                raise ValueError(f"This panel has no knob {name!r}; it has {', '.join(self.knobs)}.")
        accepted = {name: self.story.params[name].accept(name, value) for name, value in values.items()}
        with self._holding_still():
            for name, value in accepted.items():
                _turn(self.knobs[name], value)
        self.refresh()
        return self

    def refresh(self) -> None:
        """Plays the story with the present values and shows the run."""
        self.timeline = play(self.story, **self.values)
        self.judgement = judge(self.timeline, *self.checks)
        self._picture.value = viz.html(self.timeline, self.judgement.broken)
        self._words.value = f'<ul style="{LIST}">{"".join(map(_row, self.judgement.verdicts))}</ul>'

    def _moved(self, change: Any) -> None:
        if self._still:
            return
        try:
            self.refresh()
        except Exception as error:
            sentence = f"This run could not be played: {type(error).__name__}: {error}"
            self._picture.value, self._words.value = "", f'<p style="{CARD}">{escape(sentence)}</p>'

    @contextmanager
    def _holding_still(self) -> Iterator[None]:
        self._still = True
        try:
            yield
        finally:
            self._still = False

    def __repr__(self) -> str:
        named = list(zip(self.checks, self.judgement.verdicts, strict=True))
        broken = ", ".join(name for name, verdict in named if verdict.holds is False)
        unknown = ", ".join(name for name, verdict in named if verdict.holds is None)
        says = f"breaks {broken}" if broken else "breaks nothing that is judged here"
        open_ = f", and does not settle {unknown}" if unknown else ""
        return f"Panel of the story «{self.timeline.story}»: this run {says}{open_}."

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """The widget for a live notebook, and for a saved one the picture and the sentence."""
        bundle: Any = super()._repr_mimebundle_(**kwargs)
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        sentence = f"<p>{escape(repr(self))} Run this cell to turn its knobs.</p>"
        data.update({"text/plain": repr(self), "text/html": f"{self._picture.value}\n{sentence}"})
        return bundle


def panel(story: str | Story, *knobs: str, checks: str | tuple[str, ...] = (), **fixed: Any) -> Panel:
    """A panel of `story` with a control for each parameter named in `knobs` (all, if none is); `fixed` sets others, or
    a control's first value. `checks`: which verdicts to show. Raises ValueError, before anything runs, for what the
    story does not have, and for a check that does not exist."""
    chosen = find(story)
    settled = vars(chosen.settle(**fixed))
    for name in knobs:
        if name not in chosen.params:
            raise ValueError(f"The story {chosen.name} has no parameter {name!r}; it has {', '.join(chosen.params)}.")
    judges = (checks,) if isinstance(checks, str) else tuple(checks) or DEFAULT_CHECKS
    judge(Timeline(()), *judges)  # refuses a name that is no check
    shown = {name: _knob(name, chosen.params[name], settled[name]) for name in knobs or chosen.params}
    return Panel(chosen, shown, {n: settled[n] for n in fixed if n not in shown}, judges)


def _row(verdict: Verdict) -> str:
    return (
        f'<li style="margin:4px 0"><b>{MARKS[verdict.holds]}</b> {escape(verdict.claim)}<br>{escape(verdict.why)}</li>'
    )


def _knob(name: str, param: Param, value: Any) -> Any:
    """A list for a choice, a slider for a number. It reports when the hand lets go, so that moves never queue."""
    unit = f" ({param.unit})" if param.unit and not param.choices else ""
    look = {
        "description": f"{param.label or name}{unit}",
        "style": {"description_width": "170px"},
        "layout": {"width": "370px" if param.choices else "590px", "max_width": "100%"},
    }
    if param.choices:
        knob = widgets.Dropdown(options=[(str(choice), choice) for choice in param.choices], **look)
        _turn(knob, value)
        return knob
    whole = isinstance(param.default, int)
    kind, form = (widgets.IntSlider, "d") if whole else (widgets.FloatSlider, ".1f")
    span = {"min": param.low, "max": param.high, "step": param.step or 1}
    return kind(value=value, readout_format=form, continuous_update=False, **span, **look)


def _turn(knob: Any, value: Any) -> None:
    """Sets a control; a list learns a value that it did not offer, such as a lock class of one's own."""
    if isinstance(knob, widgets.Dropdown) and value not in [offered for _, offered in knob.options]:
        knob.options = [*knob.options, (getattr(value, "__name__", str(value)), value)]
    knob.value = value
