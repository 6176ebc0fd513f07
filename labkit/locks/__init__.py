"""The locks of the course, one file a variant. Each is ordinary blocking code that can be pasted into production (or,
from `broken`, into a post-mortem): it imports the standard library, `redis.exceptions` and `lease`.
"""

from .broken.ghost import GhostLock
from .broken.immortal import ImmortalLock
from .broken.plain_del import PlainDelLock
from .broken.renew_after_unlock import RenewAfterUnlockLock
from .broken.renew_by_name import RenewByNameLock
from .broken.shared_id import SharedIdLock
from .broken.two_step import TwoStepLock
from .lease import Lease, LeaseLost, Misuse, NotAcquired, Outcome
from .reentrant import ReentrantLock
from .safe import SafeLock
from .watchdog import Watchdog, WatchdogLock

LOCKS = {
    "two-step": TwoStepLock,
    "plain-del": PlainDelLock,
    "shared-id": SharedIdLock,
    "ghost": GhostLock,
    "safe": SafeLock,
    "renew-by-name": RenewByNameLock,
    "renew-after-unlock": RenewAfterUnlockLock,
    "immortal": ImmortalLock,
    "watchdog": WatchdogLock,
    "reentrant": ReentrantLock,
}

__all__ = ["LOCKS", "GhostLock", "ImmortalLock", "Lease", "LeaseLost", "Misuse", "NotAcquired", "Outcome"]
__all__ += ["PlainDelLock", "ReentrantLock", "RenewAfterUnlockLock", "RenewByNameLock", "SafeLock", "SharedIdLock"]
__all__ += ["TwoStepLock", "Watchdog", "WatchdogLock"]
