"""The checks of question 3. Each plays one function of the answer, beside rivals that keep to the contract, on SQLite;
races are played in all orders of the statements where there are few, else in many that are drawn."""

from __future__ import annotations

from collections.abc import Mapping

from ..trial import Trial
from .claims import CLAIMS
from .completes import COMPLETES
from .reaps import REAPS

TRIALS: Mapping[str, Trial] = {**CLAIMS, **COMPLETES, **REAPS}
