"""A story: who does what to whom, which fault strikes, and what a reader may turn.

A story is a value. It sets the stage in whatever world it is given (`run(world)`): clients, servers, actors, faults.
It knows neither how time passes there nor how the run is judged, so one story runs in virtual time and live.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any


@dataclass(frozen=True, slots=True)
class Param:
    """What a reader may turn: a number between `low` and `high` in steps of `step`, or one of `choices`. `classes`: a
    class of the reader's own will do as well."""

    default: Any
    low: float | None = None
    high: float | None = None
    step: float | None = None
    choices: tuple[Any, ...] = ()
    unit: str = "s"
    label: str = ""
    classes: bool = False

    def accept(self, name: str, value: Any) -> Any:
        """Returns the value in the default's own type. Raises ValueError that names the value and what is allowed."""
        if self.choices:
            if self.classes and isinstance(value, type):
                return value
            for choice in self.choices:
                if value == choice or (isinstance(value, str) and value == word(choice)):  # as a replay string has it
                    return choice
            more = ", nor a class like theirs" if self.classes else ""
            raise ValueError(f"{name}={value!r} is not one of {', '.join(map(repr, self.choices))}{more}.")
        try:
            number = type(self.default)(value)
        except (TypeError, ValueError):
            raise ValueError(f"{name}={value!r} is not a number.") from None
        low, high = self.low, self.high
        if (low is not None and number < low) or (high is not None and number > high) or math.isnan(number):
            raise ValueError(f"{name}={value!r} is outside {low} … {high} {self.unit}.".replace(" .", "."))
        return number


Actor = Callable[[Any, SimpleNamespace], None]  # (me, params): ordinary blocking code of one client


@dataclass(frozen=True)
class Story:
    """name: one word or two with a hyphen.  claim: what the reader is about to see, as a question.
    params: what may be turned.  actors: client name -> its code.  faults: params -> what strikes.
    servers: their names.  durable: those that no fault of a search strikes.  until: seconds after which the run is
    cut."""

    name: str
    claim: str
    actors: Mapping[str, Actor]
    params: Mapping[str, Param] = field(default_factory=dict)
    faults: Callable[[SimpleNamespace], list[Any]] = lambda p: []
    servers: tuple[str, ...] = ("redis",)
    durable: tuple[str, ...] = ()
    until: float = 120.0

    def settle(self, **given: Any) -> SimpleNamespace:
        """The parameters of a run. Raises ValueError naming an unknown parameter or a value that is not allowed."""
        unknown = sorted(set(given) - set(self.params))
        if unknown:
            raise ValueError(f"The story {self.name} has no parameter {unknown[0]!r}; it has {', '.join(self.params)}.")
        values = {name: p.accept(name, given.get(name, p.default)) for name, p in self.params.items()}
        return SimpleNamespace(**values)

    def run(self, world: Any, **given: Any) -> Any:
        """Plays the story in `world` and returns its timeline. Any world will do that has `server`, `client`, `arm`
        and `run`, be it simulated or live."""
        params = self.settle(**given)
        for server in self.servers:
            world.server(server)
        for name, actor in self.actors.items():
            world.client(name).start(actor, params)
        for fault in self.faults(params):
            world.arm(fault)
        return world.run(until=self.until)

    def title(self, **given: Any) -> str:
        """The story with what differs from its defaults: `gc-pause pause=12.0`; part of the replay string."""
        words = [f"{n}={word(v)}" for n, v in given.items() if v != self.params[n].default]
        return " ".join([self.name, *words])

    def but(self, **changes: Any) -> Story:
        """A copy with other fields."""
        return replace(self, **changes)


def word(value: Any) -> str:
    """A parameter's value as it stands in a replay string: a number as it is, a class by module and name."""
    return f"{value.__module__}:{value.__qualname__}" if isinstance(value, type) else f"{value}"
