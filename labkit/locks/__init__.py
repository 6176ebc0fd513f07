"""The locks of the course, one file a variant. Each is ordinary blocking code that can be pasted into production (or,
from `broken`, into a post-mortem): it imports the standard library, `redis.exceptions` and `lease`.
"""

from .broken.ghost import GhostLock
from .broken.plain_del import PlainDelLock
from .broken.shared_id import SharedIdLock
from .broken.two_step import TwoStepLock
from .lease import Lease, LeaseLost, Misuse, NotAcquired, Outcome
from .safe import SafeLock

LOCKS = {
    "two-step": TwoStepLock,
    "plain-del": PlainDelLock,
    "shared-id": SharedIdLock,
    "ghost": GhostLock,
    "safe": SafeLock,
}

__all__ = ["LOCKS", "GhostLock", "Lease", "LeaseLost", "Misuse", "NotAcquired", "Outcome", "PlainDelLock"]
__all__ += ["SafeLock", "SharedIdLock", "TwoStepLock"]
