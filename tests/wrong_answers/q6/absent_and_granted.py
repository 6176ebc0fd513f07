"""loses: lost session

Nobody stands before it; that it does not stand there itself is not seen.
"""

import time
from threading import Event

from kazoo.exceptions import NoNodeError, SessionExpiredError

from labkit import Lease
from labkit.locks import LeaseLost


def before(zk, path, node):
    ahead = [name for name in zk.get_children(path) if f"{path}/{name}" < node]
    return f"{path}/{max(ahead)}" if ahead else None


def acquire(zk, path, timeout):
    end = time.monotonic() + timeout
    try:
        node, stat = zk.create(f"{path}/lock-", ephemeral=True, sequence=True, include_data=True)
        while ahead := before(zk, path, node):
            gone = Event()
            there = zk.exists(ahead, lambda event, gone=gone: gone.set())
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
