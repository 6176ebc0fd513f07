"""The locks of the course, one file a variant. Each is ordinary blocking code that can be pasted into production (or,
from `broken`, into a post-mortem): it imports the standard library, `lease`, and the exceptions of its client.
"""

from .broken.fenced_seed import SeedFencedLock
from .broken.ghost import GhostLock
from .broken.immortal import ImmortalLock
from .broken.incr_outside import IncrOutsideLock
from .broken.one_value import OneValueRedlock
from .broken.plain_del import PlainDelLock
from .broken.redlock_seed import SeedRedlock
from .broken.renew_after_unlock import RenewAfterUnlockLock
from .broken.renew_by_name import RenewByNameLock
from .broken.shared_id import SharedIdLock
from .broken.stop_at_majority import StopAtMajorityRedlock
from .broken.two_step import TwoStepLock
from .etcd import EtcdLock
from .etcdclient import EtcdClient
from .fenced import FencedLock
from .lease import Lease, LeaseLost, Misuse, NotAcquired, Outcome
from .nodes import Nodes
from .optimistic import OptimisticLock
from .redlock import Redlock, TooManyExtensions
from .reentrant import ReentrantLock
from .resumable import Progress, commit_step, take_over
from .round import NodeAnswer, Round
from .safe import SafeLock
from .watchdog import Watchdog, WatchdogLock
from .zookeeper import ZooKeeperLock

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
    "fenced": FencedLock,
    "fenced-seed": SeedFencedLock,
    "incr-outside": IncrOutsideLock,
}

QUORUM_LOCKS = {  # on several servers: these are made with a list of clients
    "redlock": Redlock,
    "redlock-seed": SeedRedlock,
    "stop-at-majority": StopAtMajorityRedlock,
    "one-value": OneValueRedlock,
}

__all__ = ["LOCKS", "GhostLock", "ImmortalLock", "Lease", "LeaseLost", "Misuse", "NotAcquired", "Outcome"]
__all__ += ["PlainDelLock", "ReentrantLock", "RenewAfterUnlockLock", "RenewByNameLock", "SafeLock", "SharedIdLock"]
__all__ += ["TwoStepLock", "Watchdog", "WatchdogLock"]
__all__ += ["FencedLock", "IncrOutsideLock", "OptimisticLock", "SeedFencedLock"]
__all__ += ["QUORUM_LOCKS", "NodeAnswer", "Nodes", "OneValueRedlock", "Redlock", "Round", "SeedRedlock"]
__all__ += ["StopAtMajorityRedlock", "TooManyExtensions"]
__all__ += ["EtcdClient", "EtcdLock", "Progress", "ZooKeeperLock", "commit_step", "take_over"]
