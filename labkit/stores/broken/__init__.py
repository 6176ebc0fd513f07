"""Stores that compare tokens and still accept what they should not, as in the article: one wrong step each.

`CAUGHT_BY` names the check that must find the flaw; each docstring tells the schedule in which it does.
"""

from .ownerless import OwnerlessRegister
from .per_row import PerRowRegister
from .strict import StrictRegister
from .write_only import WriteOnlyRegister

__all__ = ["OwnerlessRegister", "PerRowRegister", "StrictRegister", "WriteOnlyRegister"]
