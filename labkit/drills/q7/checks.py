"""The checks of question 7. Each plays one function of the answer, beside rivals that keep to the contract, on SQLite
and under a Redis lock; races are played in all orders of the statements where there are few, else in many that are
drawn."""

from __future__ import annotations

from collections.abc import Mapping

from ..trial import Trial
from .deaths import COMMITS
from .epochs import HOLDS
from .takes import MAY_TAKE

TRIALS: Mapping[str, Trial] = {**MAY_TAKE, **HOLDS, **COMMITS}
