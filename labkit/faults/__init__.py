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
from .partition import Partition
from .pause import Pause
from .restart import Restart

__all__ = ["ClockRate", "ClockStep", "Crash", "Delay", "DropReply", "DropRequest", "Duplicate", "Evict", "Partition"]
__all__ += ["Pause", "Restart"]
