"""ImmortalLock: a watchdog that lives as long as its process (erratum E13).

Each renewal compares and all errors are survived; but what keeps the lock is the life of the process, not that of the
thread that works under it. It fails where that thread dies without a release: nobody is at work, and nobody ever will.
"""

from __future__ import annotations

import threading

from ..watchdog import WatchdogLock

CAUGHT_BY = "not_stuck"


class ImmortalLock(WatchdogLock):
    """As WatchdogLock, but the owner of every grant is the program's main thread."""

    def owner(self) -> threading.Thread:
        return threading.main_thread()
