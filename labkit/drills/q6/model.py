"""The model answer to q6, cut from its solution by tools/exercises.py; it is not edited by hand."""

import time
from threading import Event
from typing import Any

from kazoo.exceptions import NoNodeError, SessionExpiredError

from labkit import Lease
from labkit.locks import LeaseLost


def acquire(zk: Any, path: str, timeout: float) -> Lease | None:
    """Waits its turn in the queue at `path`, for at most `timeout` seconds."""
    end = time.monotonic() + timeout
    try:
        node, stat = zk.create(f"{path}/lock-", ephemeral=True, sequence=True, include_data=True)
        mine = node.rpartition("/")[2]
        while True:
            queue = sorted(zk.get_children(path), key=lambda name: name[-10:])
            if mine not in queue:
                raise LeaseLost("lost", path)
            if queue[0] == mine:
                return Lease(path, node, stat.czxid, None)  # type: ignore[arg-type]
            before, changed = queue[queue.index(mine) - 1], Event()
            there = zk.exists(f"{path}/{before}", watch=lambda event, changed=changed: changed.set())
            if zk.exists(node) is None:  # the watch may have been set in another session than our node
                raise LeaseLost("lost", path)
            if there and not changed.wait(max(0.0, end - time.monotonic())):
                zk.delete(node)
                return None
    except (NoNodeError, SessionExpiredError):
        raise LeaseLost("lost", path) from None


def release(zk: Any, grant: Lease) -> bool:
    """Deletes the own node; whether that was still there."""
    try:
        zk.delete(grant.token)
    except (NoNodeError, SessionExpiredError):
        return False
    return True
