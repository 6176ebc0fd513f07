"""A story under sliders: each move plays it anew and redraws one picture and one list of verdicts.

The picture is an image whose address is replaced, not the captured output of a cell, so that moves cannot pile up. A
saved notebook keeps the picture of the moment and one sentence, without a kernel and without widgets.
"""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets

from .. import viz
from ..checks import Judgement, judge
from ..stories import find, play
from ..story import Param, Story
from ..timeline import Timeline

CARD = "background:#fff;color:#1b1f24;border:1px solid #d0d7de;border-radius:6px;padding:8px 12px;"
MARKS = {True: "✓", False: "✗", None: "?"}


class Panel(widgets.VBox):
    """What `panel` returns. `timeline` and `judgement` are those of the run that is shown."""

    def __init__(self, story: Story, knobs: dict[str, Any], fixed: dict[str, Any], checks: tuple[str, ...]) -> None:
        self.story, self.knobs, self.fixed, self.checks = story, knobs, fixed, checks
        self.timeline = Timeline(())
        self.judgement = Judgement((), "")
        self._picture, self._words = widgets.HTML(), widgets.HTML()
        heading = widgets.HTML(f"<b>{story.claim}</b>")
        super().__init__([heading, *knobs.values(), self._picture, self._words])
        for knob in knobs.values():
            knob.observe(lambda _: self.refresh(), names="value")
        self.refresh()

    @property
    def values(self) -> dict[str, Any]:
        """The parameters as they stand."""
        return self.fixed | {name: knob.value for name, knob in self.knobs.items()}

    def set(self, **values: Any) -> Panel:
        """Turns parameters from code, as a hand would. Raises ValueError for a name that is no knob of this panel."""
        for name, value in values.items():
            if name not in self.knobs:
                raise ValueError(f"This panel has no knob {name!r}; it has {', '.join(self.knobs)}.")
            self.knobs[name].value = self.story.params[name].accept(name, value)
        return self

    def refresh(self) -> None:
        """Plays the story with the present values and shows the run."""
        self.timeline = play(self.story, **self.values)
        self.judgement = judge(self.timeline, *self.checks)
        self._picture.value = viz.html(self.timeline, self.judgement.broken)
        rows = [f"<li><b>{MARKS[v.holds]}</b> {v.claim}<br>{v.why}</li>" for v in self.judgement.verdicts]
        self._words.value = f'<ul style="{CARD}list-style:none;margin:0">{"".join(rows)}</ul>'

    def __repr__(self) -> str:
        broken = ", ".join(name for name, v in zip(self.checks, self.judgement.verdicts, strict=True) if v in self._bad)
        verdict = f"breaks {broken}" if broken else "breaks nothing that is judged here"
        return f"Panel of the story «{self.timeline.story}»: this run {verdict}."

    @property
    def _bad(self) -> tuple[Any, ...]:
        return self.judgement.broken

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """The widget for a live notebook, and for a saved one the picture and the sentence."""
        bundle: Any = super()._repr_mimebundle_(**kwargs)
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        data.update({"text/plain": repr(self), "text/html": self._picture.value})
        return bundle


def panel(story: str | Story, *knobs: str, checks: tuple[str, ...] = (), **fixed: Any) -> Panel:
    """A panel of `story` with a control for each parameter named in `knobs` (all, if none is); `fixed` sets others, or
    a control's first value. `checks`: which verdicts to show. Raises ValueError for what the story does not have."""
    chosen = find(story)
    settled = vars(chosen.settle(**fixed))
    for name in knobs:
        if name not in chosen.params:
            raise ValueError(f"The story {chosen.name} has no parameter {name!r}; it has {', '.join(chosen.params)}.")
    shown = {name: _knob(name, chosen.params[name], settled[name]) for name in knobs or chosen.params}
    return Panel(chosen, shown, {n: settled[n] for n in fixed if n not in shown}, checks or DEFAULT_CHECKS)


DEFAULT_CHECKS = ("exclusive_grants", "one_believer", "own_release", "not_stuck")


def _knob(name: str, param: Param, value: Any) -> Any:
    """A slider for a number, a list for a choice. It reports a move when the hand lets go, so that moves never queue."""
    look = {"description": param.label or name, "style": {"description_width": "140px"}}
    if param.choices:
        options = list(param.choices) if value in param.choices else [*param.choices, value]
        return widgets.Dropdown(options=options, value=value, **look)
    unit = f" {param.unit}" if param.unit else ""
    kind = widgets.IntSlider if isinstance(param.default, int) else widgets.FloatSlider
    form = "d" if isinstance(param.default, int) else ".1f"
    return kind(
        value=value,
        min=param.low,
        max=param.high,
        step=param.step or 1,
        readout_format=form,
        continuous_update=False,
        layout={"width": "560px"},
        **(look | {"description": f"{param.label or name}{f' ({unit.strip()})' if unit else ''}"}),
    )
