"""The checks of question 2: for each, what befalls the nodes or the client, and what the judge then asks of the run.

A judge says PASS only of a run that came to the point in question. Which nodes are ill or held by a rival is drawn, but
for what must come first; a loop, threads and connections that are written to all at once meet the same chances.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..trial import Trial
from .grants import GRANTS
from .refusals import REFUSALS
from .releases import RELEASES

TRIALS: Mapping[str, Trial] = {**GRANTS, **REFUSALS, **RELEASES}
