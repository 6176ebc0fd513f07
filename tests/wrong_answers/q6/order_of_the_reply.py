"""loses: mutual exclusion

The children come in the order of their making, it thinks.
"""

import time
from threading import Event

from kazoo.exceptions import NoNodeError, SessionExpiredError

from labkit import Lease
from labkit.locks import LeaseLost


def before(zk, path, node):
    queue = zk.get_children(path)
    mine = node.rpartition("/")[2]
    if mine not in queue:
        raise LeaseLost("lost", path)
    place = queue.index(mine)
    return f"{path}/{queue[place - 1]}" if place else None


def acquire(zk, path, timeout):
    end = time.monotonic() + timeout
    try:
        node, stat = zk.create(f"{path}/lock-", ephemeral=True, sequence=True, include_data=True)
        while ahead := before(zk, path, node):
            gone = Event()
            there = zk.exists(ahead, lambda event, gone=gone: gone.set())
            if zk.exists(node) is None:
                raise LeaseLost("lost", path)
            if there and not gone.wait(max(0.0, end - time.monotonic())):
                zk.delete(node)
                return None
        return Lease(path, node, stat.czxid, None)
    except (NoNodeError, SessionExpiredError):
        raise LeaseLost("lost", path) from None


def release(zk, grant):
    try:
        zk.delete(grant.token)
    except (NoNodeError, SessionExpiredError):
        return False
    return True
