"""The checks of question 4. Each plays one function of the answer on SQLite, by itself: what others do to the guard is
done by rivals that keep to the contract. Races are played in all orders of the statements where there are few of them,
else in many that are drawn."""

from __future__ import annotations

from collections.abc import Mapping

from ..trial import Trial
from .atomic import ATOMIC
from .registers import REGISTERS
from .writes import CLOSED, WRITES

TRIALS: Mapping[str, Trial] = {**REGISTERS, **WRITES, **ATOMIC, **CLOSED}
