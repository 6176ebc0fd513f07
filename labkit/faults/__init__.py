"""What may befall a run, one file a fault. A fault is a value; `arm(world)` tells the world when it strikes.

Faults strike at a time (`at`, seconds) or at a command (`on`, its first word, and `nth`, counted for each client from
1). Without `client` or `server` they mean any. A rule on packets can be any function packet -> Fate.
"""

from .clock import ClockRate, ClockStep
from .crash import Crash
from .delay import Delay
from .drop import DropReply, DropRequest
from .duplicate import Duplicate
from .evict import Evict
from .failover import Failover
from .flush import Flush
from .partition import Partition
from .pause import Pause
from .replica import Replica
from .restart import Restart
from .suspend import Suspend

__all__ = ["ClockRate", "ClockStep", "Crash", "Delay", "DropReply", "DropRequest", "Duplicate", "Evict", "Failover"]
__all__ += ["Flush", "Partition", "Pause", "Replica", "Restart", "Suspend"]
