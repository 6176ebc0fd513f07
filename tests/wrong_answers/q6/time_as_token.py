"""loses: token

The fence is the time in milliseconds: a number that grows.
"""

import time
from threading import Event

from kazoo.exceptions import NoNodeError, SessionExpiredError

from labkit import Lease
from labkit.locks import LeaseLost


def before(zk, path, node):
    queue = sorted(zk.get_children(path), key=lambda name: name[-10:])
    mine = node.rpartition("/")[2]
    if mine not in queue:
        raise LeaseLost("lost", path)
    place = queue.index(mine)
    return f"{path}/{queue[place - 1]}" if place else None


def acquire(zk, path, timeout):
    end = time.monotonic() + timeout
    try:
        node = zk.create(f"{path}/lock-", ephemeral=True, sequence=True)
        while ahead := before(zk, path, node):
            gone = Event()
            there = zk.exists(ahead, lambda event, gone=gone: gone.set())
            if zk.exists(node) is None:
                raise LeaseLost("lost", path)
            if there and not gone.wait(max(0.0, end - time.monotonic())):
                zk.delete(node)
                return None
        return Lease(path, node, int(time.time() * 1000), None)
    except (NoNodeError, SessionExpiredError):
        raise LeaseLost("lost", path) from None


def release(zk, grant):
    try:
        zk.delete(grant.token)
    except (NoNodeError, SessionExpiredError):
        return False
    return True
