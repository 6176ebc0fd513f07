"""Without a listener: once the watch is set it asks whether its own node is still there."""

import time
from threading import Event

from kazoo.exceptions import NoNodeError, SessionExpiredError

from labkit import Lease
from labkit.locks import LeaseLost


def node_before(zk, path, node):
    queue = sorted(zk.get_children(path), key=lambda name: name[-10:])
    place = queue.index(node.rpartition("/")[2])
    return f"{path}/{queue[place - 1]}" if place else None


def acquire(zk, path, timeout):
    end = time.monotonic() + timeout
    try:
        node, stat = zk.create(f"{path}/lock-", ephemeral=True, sequence=True, include_data=True)
        while before := node_before(zk, path, node):
            changed = Event()
            there = zk.exists(before, lambda event, changed=changed: changed.set())
            if zk.exists(node) is None:
                raise LeaseLost("lost", path)
            if there and not changed.wait(max(0.0, end - time.monotonic())):
                zk.delete(node)
                return None
    except (ValueError, NoNodeError, SessionExpiredError):
        raise LeaseLost("lost", path) from None
    return Lease(path, node, stat.czxid, None)


def release(zk, grant):
    try:
        return zk.delete(grant.token) is not False
    except (NoNodeError, SessionExpiredError):
        return False
