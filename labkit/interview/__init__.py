"""The mock interview: a question that is due, an answer against the clock, a score, a follow-up, a run that settles it.

    labkit interview              # in a terminal; `labkit.panels.interview()` is the same in a notebook
    labkit interview --due        # when each question comes again

Questions, key points, follow-ups and their runs come from the folders of `labkit.drills`; nothing is written twice. You
score yourself, claim by claim; levels and dates follow from that by stated rules. It does not understand what you say.
"""

from .chart import svg, text
from .deck import Card, all_cards, cards, write
from .proof import Proof, prove
from .schedule import Slot, local, pick, slots, told, upcoming
from .scoring import AXES, LEVELS, RULE, Summary, allowed, history, level, said, summarise
from .sitting import Sitting, begin

__all__ = ["AXES", "LEVELS", "RULE", "Card", "Proof", "Sitting", "Slot", "Summary"]
__all__ += ["all_cards", "allowed", "begin", "cards", "history", "level", "local", "pick", "prove", "said", "slots"]
__all__ += ["summarise", "svg", "text", "told", "upcoming", "write"]
