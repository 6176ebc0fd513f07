"""loses: one wake-up

One node, without a number: whoever makes it holds, all others wait for its end.
"""

import time
from threading import Event

from kazoo.exceptions import NodeExistsError, NoNodeError, SessionExpiredError

from labkit import Lease
from labkit.locks import LeaseLost


def acquire(zk, path, timeout):
    end = time.monotonic() + timeout
    node = f"{path}/lock"
    try:
        while True:
            gone = Event()
            try:
                made, stat = zk.create(node, ephemeral=True, include_data=True)
                return Lease(path, made, stat.czxid, None)
            except NodeExistsError:
                pass
            there = zk.exists(node, lambda event, gone=gone: gone.set())
            if there and not gone.wait(max(0.0, end - time.monotonic())):
                return None
    except SessionExpiredError:
        raise LeaseLost("lost", path) from None


def release(zk, grant):
    try:
        zk.delete(grant.token)
    except (NoNodeError, SessionExpiredError):
        return False
    return True
