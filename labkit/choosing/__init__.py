"""Which lock, if any: six questions, a scheme, and the cells of the safety matrix that speak for it.

    choice = choose({"harm": "data", "place": "store", "newest": "yes", "length": "short", "waiting": "leave",
                     "service": "redis"})

`choose` is a rule and nothing else: the same answers give the same choice, and every combination of answers gives one.
It never names a row of the matrix that has a U in a column that the answers make matter; a test compares all
combinations with the recorded matrix. Where it advises against a lock, the cells are that lock's
(`Choice.spares`). It knows nothing of load, of money, or of who is on call at night.
"""

from .comparison import compared, settled, table
from .questions import QUESTIONS, Question, asked, refuse
from .record import Record, recorded
from .rules import Choice, choose, combinations, decisive, matters, turns
from .schemes import SCHEMES, Scheme

__all__ = [
    "QUESTIONS",
    "SCHEMES",
    "Choice",
    "Question",
    "Record",
    "Scheme",
    "asked",
    "choose",
    "combinations",
    "compared",
    "decisive",
    "matters",
    "recorded",
    "refuse",
    "settled",
    "table",
    "turns",
]
